import { expect, test } from 'vitest';
import { whyNoJsonPatch } from '../../../../kube/patch/json-problem.ts';

test.each<[patch: object | null, why: string]>([
  [{ op: '', path: '/a' }, 'Unexpected kind: '],
  [{ path: '/a' }, 'Unexpected kind: unknown'],
  [{ op: 5, path: '/a' }, 'Unexpected kind: unknown'],
  [null, 'Unexpected kind: unknown'],
  [{ op: 'add', value: 1 }, 'add operation failed to decode path: missing value'],
  [{ op: 'add', path: 5, value: 1 }, 'add operation failed to decode path: missing value'],
  [
    { op: 'move', path: '/a' },
    'move operation failed to decode from: operation, missing from field: missing value',
  ],
  [{ op: 'nope', path: '/a' }, 'Unexpected kind: nope'],
  [
    { op: 'add', path: '/list/5', value: 1 },
    "error in add for path: '/list/5': Unable to access invalid index: 5: invalid index referenced",
  ],
  [
    { op: 'add', path: '/none/5', value: 1 },
    'add operation does not apply: doc is missing path: "/none/5": missing value',
  ],
])('%j', (patch, why) => {
  expect(whyNoJsonPatch({ list: [1, 2] }, [patch as never])).toBe(why);
});
