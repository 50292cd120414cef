import { expect, it } from 'vitest';
import type { KindRule } from '../../../cluster/placed-resource.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { changedThere, isDue } from '../../../syncer/changed.ts';

const of = (replicas?: number, metadata: object = {}): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', ...metadata },
    spec: { replicas },
  }) as KubeObject;
const scaled = { annotations: { 'atoll.dev/scaled': 'true' } };
const owned = { ownerReferences: [{ controller: true }] };

it.each<[string, KubeObject, KubeObject, boolean]>([
  ['as it was applied', of(4), of(4), false],
  ['with fewer', of(4), of(2), true],
  ['with more', of(4), of(5), true],
  ['none at all', of(4), of(0), true],
  ['a kind without any', of(), of(1), false],
  ['what an autoscaler scales', of(4, scaled), of(2), false],
  ['what a controller there has made its own', of(4), of(2, owned), false],
])('what the cluster made of what was applied: %s', (_, manifest, written, isChanged) => {
  expect(changedThere(manifest, written) !== undefined).toBe(isChanged);
});

it.each<[string, KindRule, Record<string, unknown>, Record<string, unknown>, boolean]>([
  ['where its rule says', { specReplicasPath: '.spec.size' }, { size: 3 }, { size: 2 }, true],
  [
    'elsewhere',
    { specReplicasPath: '.spec.size' },
    { size: 3, replicas: 3 },
    { size: 3, replicas: 2 },
    false,
  ],
  ['of one that is not divided', {}, { replicas: 2 }, { replicas: 3 }, false],
])('the replicas of a custom resource are %s', (_, rule, wanted, found, isChanged) => {
  const [manifest, written] = [wanted, found].map((spec) => ({ ...of(), spec }));
  const ref = { group: 'x', version: 'v1', resource: 'sets', kind: 'Set', name: 'web', uid: 'u', rule };
  expect(changedThere(manifest!, written!, ref) !== undefined).toBe(isChanged);
});

it.each([
  [0, 30_000],
  [1, 60_000],
  [9, 240_000],
])(
  'after %i times in a row it is applied again in %i ms, and at once by one that has not written it',
  (repairs, ms) => {
    expect(isDue({ repairs }, 1_000_000)).toBe(true);
    expect(isDue({ writtenAt: 1_000_000, repairs }, 1_000_000 + ms - 1)).toBe(false);
    expect(isDue({ writtenAt: 1_000_000, repairs }, 1_000_000 + ms)).toBe(true);
  },
);
