import { expect, test } from 'vitest';
import { isDeeper, refuseDeep, refuseDeeper } from '../../../kube/depth.ts';
import type { JsonObject } from '../../../kube/object.ts';

const gvk = { group: 'example.com', version: 'v1', kind: 'Thing' };
const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test.each([
  [1, 0, false],
  [null, 0, false],
  [{}, 0, true],
  [[], 0, true],
  [[], 1, false],
  [[1, { a: 1 }], 1, true],
  [[1, { a: 1 }], 2, false],
  [nested(1_000_000), 1000, true],
])('%#. is deeper than %2$i: %3$s', (value, levels, deeper) => {
  expect(isDeeper(value, levels)).toBe(deeper);
});

test.each<[string, (levels: number) => JsonObject, number]>([
  ['spec', (levels) => ({ spec: nested(levels) }), 999],
  ['metadata', (levels) => ({ metadata: nested(levels) }), 999],
  ['metadata that is a list', (levels) => ({ metadata: [nested(levels)] }), 998],
  ['managed fields', (levels) => ({ metadata: { managedFields: [nested(levels)] } }), 1007],
])('%s', (_name, object, levels) => {
  expect(() => refuseDeep(object(levels), gvk)).not.toThrow();
  expect(() => refuseDeep(object(levels + 1), gvk)).toThrow(
    'Thing in version "v1" cannot be handled as a Thing: json: exceeded max depth',
  );
});

test('what was deeper before may stay as deep', () => {
  const deep = { spec: nested(20_000) };
  expect(() => refuseDeeper({ spec: nested(20_000), more: 1 }, deep, gvk)).not.toThrow();
  expect(() => refuseDeeper({ spec: nested(20_001) }, deep, gvk)).toThrow(/exceeded max depth/);
  expect(() => refuseDeeper({ spec: nested(1000) }, { spec: nested(999) }, gvk)).toThrow(
    /exceeded max depth/,
  );
  expect(() => refuseDeeper({ spec: nested(999) }, {}, gvk)).not.toThrow();
});
