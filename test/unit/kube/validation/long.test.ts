import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { validateRules } from '../../../../kube/cel/validate.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { validateSchema } from '../../../../kube/validation/custom/schema.ts';
import { validateCreate } from '../../../../kube/validation/index.ts';
import { patienceMs } from '../../../eventually.ts';
import { infoOf } from '../kinds.ts';

const count = 50_000;
const many = <T>(make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const item = {
  type: 'object',
  properties: {
    a: { type: 'string' },
    v: { type: 'integer', maximum: 5, 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] },
  },
};
const list = {
  type: 'array',
  items: item,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['a'],
};
const before = many((i) => ({ a: `a${i}`, v: 9 }));
/** The other way round, and one of them changed. */
const after = before.toReversed().map((one, i) => (i === 3 ? { ...one, v: 8 } : one));

function topologies(term: (i: number) => object): KubeObject {
  const kind = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'a' } };
  const spec = { provisioner: 'example.com/p', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' };
  return { ...kind, ...spec, allowedTopologies: many(term) };
}
const causesOf = (object: KubeObject) => validateCreate(object, infoOf(object));
const zones = (values: string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] });

test.each<[string, () => readonly unknown[], number]>([
  ['items that are what they were, by the schema', () => validateSchema(after, list, '', 0, before), 1],
  ['items that may not become less, by rules', () => validateRules(after, before, list), 1],
  ['topologies, all different', () => causesOf(topologies((i) => zones([`z${i}`]))), 0],
  ['topologies, all one', () => causesOf(topologies(() => zones(['z']))), 1000],
  ['topologies of nothing', () => causesOf(topologies(() => ({}))), 1000],
  [
    'zones of a topology',
    () => causesOf({ ...topologies(() => ({})), allowedTopologies: [zones(many(String))] }),
    0,
  ],
])('of many %s, are judged in no time', (_, judge, most) => {
  const causes = runInNewContext('judge()', { judge }, { timeout: patienceMs }) as readonly unknown[];
  expect(causes).toHaveLength(most);
});
