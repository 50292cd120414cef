import { expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { jsonPatchBetween } from '../../../../kube/patch/diff.ts';
import { applyJsonPatch } from '../../../../kube/patch/json.ts';

const a = { name: 'a', image: 'a:1' };
const b = { name: 'b', image: 'b:1' };
const side = { name: 'side', image: 'side:1' };

const cases: [what: string, before: Json, after: Json, operations: Json][] = [
  ['the same', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['a key that comes', {}, { a: 1 }, [{ op: 'add', path: '/a', value: 1 }]],
  ['a key that goes', { a: 1 }, {}, [{ op: 'remove', path: '/a' }]],
  ['a null that comes', {}, { a: null }, [{ op: 'add', path: '/a', value: null }]],
  ['of another type', { a: [1] }, { a: { b: 1 } }, [{ op: 'replace', path: '/a', value: { b: 1 } }]],
  [
    'a name with a slash and a tilde',
    { 'x/y~z': 1 },
    { 'x/y~z': 2 },
    [{ op: 'replace', path: '/x~1y~0z', value: 2 }],
  ],
  ['one more at the end', [a], [a, side], [{ op: 'add', path: '/1', value: side }]],
  ['one more at the beginning', [a, b], [side, a, b], [{ op: 'add', path: '/0', value: side }]],
  ['one more between', [a, b], [a, side, b], [{ op: 'add', path: '/1', value: side }]],
  ['one changed', [a, b], [{ ...a, image: 'a:2' }, b], [{ op: 'replace', path: '/0/image', value: 'a:2' }]],
  [
    'two fewer',
    [a, b, side],
    [side],
    [
      { op: 'remove', path: '/0' },
      { op: 'remove', path: '/0' },
    ],
  ],
  [
    'all of it',
    [1, 2],
    [],
    [
      { op: 'remove', path: '/0' },
      { op: 'remove', path: '/0' },
    ],
  ],
];

test.each(cases)('%s', (_what, before, after, operations) => {
  const patch = jsonPatchBetween(before, after);
  expect(patch).toEqual(operations);
  expect(applyJsonPatch(before, patch as unknown as Json)).toEqual(after);
});

test('whatever the two are, the patch leads from one to the other', () => {
  // A generator without luck: the same in each run.
  let seed = 1;
  const next = (most: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % most;
  };
  const value = (depth: number): Json => {
    const kind = next(depth === 0 ? 3 : 5);
    if (kind < 3) return ([next(3), `t${next(3)}`, null] as const)[kind] ?? null;
    const items = Array.from({ length: next(4) }, () => value(depth - 1));
    return kind === 3 ? items : Object.fromEntries(items.map((item) => [`k${next(4)}`, item]));
  };
  for (let i = 0; i < 500; i++) {
    const [before, after] = [{ of: value(3) }, { of: value(3) }];
    expect(applyJsonPatch(before, jsonPatchBetween(before, after) as unknown as Json)).toEqual(after);
  }
});
