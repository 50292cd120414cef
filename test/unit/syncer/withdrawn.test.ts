import { expect, test } from 'vitest';
import { withdrawnLabel } from '../../../cluster/names.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { turns } from '../../../syncer/withdrawn.ts';

const service = (selector: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', annotations },
  spec: { selector },
});
const open = service({ app: 'web' });
const closed = service({ app: 'web', [withdrawnLabel]: 'true' });
const marked = service({ app: 'web' }, { [withdrawnLabel]: 'false' });

test.each<[string, KubeObject, KubeObject, boolean | undefined, boolean]>([
  ['it leads to its pods, and is to', open, open, undefined, false],
  ['it is to be withdrawn', closed, open, undefined, true],
  ['it is withdrawn', closed, closed, true, false],
  ['somebody died while it was withdrawn', closed, marked, undefined, true],
  ['it is wanted again', open, closed, true, true],
  ['somebody died while it came back', open, marked, undefined, true],
  ['others there have it lead to its pods again, and slices may be left', open, open, true, true],
])('a Service turns: %s', (_what, manifest, there, withdrawn, expected) => {
  expect(turns(manifest, there, withdrawn === undefined ? {} : { withdrawn })).toBe(expected);
});

test('nothing but a Service turns', () => {
  expect(turns(closed, { ...open, kind: 'Ingress' }, { withdrawn: true })).toBe(false);
});
