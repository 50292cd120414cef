import { describe, expect, it } from 'vitest';
import { decodeJsonText } from '../../../../kube/json.ts';
import type { Json } from '../../../../kube/object.ts';
import { applyJsonPatch } from '../../../../kube/patch/json.ts';
import { applyMergePatch } from '../../../../kube/patch/merge.ts';
import { encodeMarked, marked, unmarked } from '../../../../kube/patch/written.ts';

function patched(apply: (target: Json, patch: Json) => Json, target: Json, text: string) {
  const { value, literals = new Map() } = decodeJsonText(text, { strict: true });
  const { value: read, written } = unmarked(apply(target, marked(value, literals)));
  return [read, Object.fromEntries(written), encodeMarked(marked(read, written))];
}

describe('numbers as they are written', () => {
  it.each<[Json, string, Json, Record<string, string>, string]>([
    [{ a: 1 }, '{"a":3.0}', { a: 3 }, { a: '3.0' }, '{"a":3.0}'],
    [{ a: 1, b: 2 }, '{"b":2e0}', { a: 1, b: 2 }, { b: '2e0' }, '{"a":1,"b":2e0}'],
    [
      {},
      '{"a":[{"b":8e1},{"b":1}]}',
      { a: [{ b: 80 }, { b: 1 }] },
      { 'a[0].b': '8e1' },
      '{"a":[{"b":8e1},{"b":1}]}',
    ],
    [{ a: 1.0 }, '{"b":1.5}', { a: 1, b: 1.5 }, {}, '{"a":1,"b":1.5}'],
    [{}, '{"a":3.0,"a":1}', { a: 1 }, {}, '{"a":1}'],
    [{ a: '\u{10000}x' }, '{"b":3.0}', { a: '\u{10000}x', b: 3 }, { b: '3.0' }, '{"a":"\u{10000}x","b":3.0}'],
    [{}, '{"a":"\u{10000}x","b":3.0}', { a: '\u{10000}x', b: 3 }, { b: '3.0' }, '{"a":"\u{10000}x","b":3.0}'],
    [{}, '{"a":1e-7,"b":1e+21}', { a: 1e-7, b: 1e21 }, {}, '{"a":1e-7,"b":1e+21}'],
    [{}, '{"a":"3.0","b":3.0}', { a: '3.0', b: 3 }, { b: '3.0' }, '{"a":"3.0","b":3.0}'],
  ])('%j with the merge patch %s is %j', (target, patch, value, written, text) => {
    expect(patched(applyMergePatch, target, patch)).toEqual([value, written, text]);
  });

  it.each<[string, string, Json, Record<string, string>]>([
    ['replaced', '[{"op":"replace","path":"/a","value":3.0}]', { a: 3 }, { a: '3.0' }],
    [
      'moved',
      '[{"op":"add","path":"/b","value":[1,3.0]},{"op":"move","from":"/b/1","path":"/a"}]',
      { a: 3, b: [1] },
      { a: '3.0' },
    ],
    [
      'tested as it was put',
      '[{"op":"replace","path":"/a","value":3.0},{"op":"test","path":"/a","value":3.0}]',
      { a: 3 },
      { a: '3.0' },
    ],
  ])('are %s by a JSON patch', (_, patch, value, written) => {
    expect(patched(applyJsonPatch, { a: 1 }, patch).slice(0, 2)).toEqual([value, written]);
  });

  it.each(['1.0', '1e0'])('%s is not 1 to the test of a JSON patch', (number) => {
    const patch = `[{"op":"test","path":"/a","value":${number}}]`;
    expect(() => patched(applyJsonPatch, { a: 1 }, patch)).toThrow('rejected our request');
  });

  it('finds a number that is written as Go stores it', () => {
    const patch = '[{"op":"test","path":"/a","value":1e-7}]';
    expect(patched(applyJsonPatch, { a: 1e-7 }, patch)[0]).toEqual({ a: 1e-7 });
  });

  it('are not looked for below a long key, whose path each of them would have', () => {
    const below = { a: 3 };
    const path = 'k'.repeat(2000);
    expect(marked({ [path]: below }, new Map([[`${path}.a`, '3.0']]))).toEqual({ [path]: below });
    expect(unmarked({ [path]: marked(below, new Map([['a', '3.0']])) }).written.size).toBe(0);
  });
});
