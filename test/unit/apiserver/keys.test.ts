import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectionRange, objectKey, parseKey } from '../../../apiserver/registry/keys.ts';

const kinds = [
  { group: '', resource: 'secrets', namespaced: true },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', namespaced: false },
  { group: 'example.com', resource: 'secrets', namespaced: true },
] as const;
// What a validated name may be, and what no validation is asked about: a name of RBAC may be anything but these.
const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,6}[a-z0-9])?$/);
const cluster = fc.oneof(
  label,
  fc.tuple(label, label).map((two) => two.join(':')),
);
const name = fc
  .oneof(label, fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }))
  .filter((text) => !/[/%]/.test(text) && text !== '.' && text !== '..' && text.isWellFormed());
const place = fc.record({ kind: fc.constantFrom(...kinds), cluster, namespace: label, name });

type Place = typeof place extends fc.Arbitrary<infer T> ? T : never;
const keyOf = ({ kind, cluster: c, namespace, name: n }: Place) =>
  objectKey(kind, c, kind.namespaced ? namespace : '', n);
const same = (a: Place, b: Place) =>
  a.kind === b.kind &&
  a.cluster === b.cluster &&
  a.name === b.name &&
  (!a.kind.namespaced || a.namespace === b.namespace);

test('no two objects have one key, and a key reads back as what it was made of', () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      expect(keyOf(a) === keyOf(b)).toBe(same(a, b));
      const namespace = a.kind.namespaced ? a.namespace : '';
      expect(parseKey(a.kind, keyOf(a))).toEqual({ cluster: a.cluster, namespace, name: a.name });
    }),
    { numRuns: 5000 },
  );
});

test('no object lies in the range of another logical cluster, namespace or kind', () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      const inside = (namespace: string, wanted: boolean) => {
        const { start, end } = collectionRange(a.kind, a.cluster, namespace);
        const key = keyOf(b);
        expect(key >= start && key < end).toBe(wanted);
      };
      const alike = a.kind === b.kind && a.cluster === b.cluster;
      inside('', alike);
      if (a.kind.namespaced) inside(a.namespace, alike && a.namespace === b.namespace);
    }),
    { numRuns: 5000 },
  );
});
