import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldSet } from '../../../../kube/patch/fields.ts';
import { fieldElement, formatPath, keyElement, valueElement } from '../../../../kube/patch/path-element.ts';

const element = fc.oneof(
  fc.constantFrom('a', 'b', 'spec', '__proto__', 'constructor', '.', '1').map(fieldElement),
  fc.constantFrom('x', '"', '<&>', 1, 2, 10).map(valueElement),
  fc.tuple(fc.constantFrom(80, 443, 9), fc.constantFrom('TCP', 'UDP')).map(([port, protocol]) =>
    keyElement([
      ['protocol', protocol],
      ['port', port],
    ]),
  ),
  fc.nat(12).map((i) => `i:${i}`),
);
const set = fc
  .array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 12 })
  .map((paths) => FieldSet.of(...paths));

const paths = (of: FieldSet) => new Set([...of.paths()].map(formatPath));

describe('FieldSet', () => {
  it('survives fieldsV1 and back, whatever the order of keys', () => {
    fc.assert(
      fc.property(set, (s) => {
        const json = s.toFieldsV1();
        expect(FieldSet.fromFieldsV1(json).equals(s)).toBe(true);
        const reversed = Object.fromEntries(Object.entries(json).reverse());
        expect(JSON.stringify(FieldSet.fromFieldsV1(reversed).toFieldsV1())).toBe(JSON.stringify(json));
      }),
    );
  });

  it('does what sets do', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const x = paths(a);
        const y = paths(b);
        expect(paths(a.union(b))).toEqual(new Set([...x, ...y]));
        expect(paths(a.intersection(b))).toEqual(new Set([...x].filter((p) => y.has(p))));
        expect(paths(a.difference(b))).toEqual(new Set([...x].filter((p) => !y.has(p))));
        for (const path of a.paths()) expect(a.has(path)).toBe(true);
        expect(a.isEmpty()).toBe(x.size === 0);
      }),
    );
  });

  it('takes whole subtrees away when asked', () => {
    const all = FieldSet.of(['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']);
    expect(paths(all.recursiveDifference(FieldSet.of(['f:a'])))).toEqual(new Set(['.c.d']));
    expect(paths(all.difference(FieldSet.of(['f:a'])))).toEqual(new Set(['.a.b', '.c.d']));
    expect(paths(all.leaves())).toEqual(new Set(['.a.b', '.c.d']));
  });

  it('orders fields, keys, values, indices; numbers as numbers', () => {
    const json = FieldSet.of(
      ['i:10'],
      ['i:9'],
      ['v:10'],
      ['v:9'],
      ['k:{"a":10}'],
      ['k:{"a":9}'],
      ['f:b'],
      ['f:a'],
    );
    expect(Object.keys(json.toFieldsV1())).toEqual([
      'f:a',
      'f:b',
      'k:{"a":9}',
      'k:{"a":10}',
      'v:9',
      'v:10',
      'i:9',
      'i:10',
    ]);
  });

  it('skips kinds of path element that nobody knows and refuses nonsense', () => {
    expect(FieldSet.fromFieldsV1({ 'z:1': {}, 'f:a': {} }).toFieldsV1()).toEqual({ 'f:a': {} });
    expect(() => FieldSet.fromFieldsV1({ fa: {} })).toThrow(SyntaxError);
    expect(() => FieldSet.fromFieldsV1({ 'k:{': {} })).toThrow(SyntaxError);
  });
});
