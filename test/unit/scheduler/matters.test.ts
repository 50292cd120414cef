import { expect, test } from 'vitest';
import type { ClusterSlice, Placement } from '../../../cluster/types.ts';
import { objectMatters, placementMatters } from '../../../scheduler/matters.ts';

function record(resource: string, slice: ClusterSlice): Placement {
  const ref = { group: '', version: 'v1', resource, kind: 'K', name: 'x', uid: 'x' };
  return {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'x' },
    spec: { ref, clusters: ['a'], shares: { a: { phase: 'Active', replicas: 1 } } },
    status: { clusters: { a: slice } },
  } as unknown as Placement;
}

test.each<[string, string, string, boolean]>([
  ['a claim that is bound now: it holds data there', 'persistentvolumeclaims', 'Bound', true],
  ['a claim that is as it was', 'persistentvolumeclaims', 'Pending', false],
  ['a Secret, whatever is said of it', 'secrets', 'Bound', false],
])('what a cluster says matters to where things go: %s', (_, resource, phase, expected) => {
  const before = record(resource, { present: true, status: { phase: 'Pending' } });
  expect(placementMatters(record(resource, { present: true, status: { phase } }), before)).toBe(expected);
});

test.each<[string, string, object, object, boolean]>([
  ['a Job that ends', 'Job', {}, { conditions: [{ type: 'Complete', status: 'True' }] }, true],
  ['a Job that runs on', 'Job', { active: 1 }, { active: 2 }, false],
  ['a Pod that ends', 'Pod', { phase: 'Running' }, { phase: 'Succeeded' }, true],
  ['a Pod that starts', 'Pod', { phase: 'Pending' }, { phase: 'Running' }, false],
])(
  'the status of an object matters where it takes no room any more: %s',
  (_, kind, before, now, expected) => {
    const object = (status: object) => ({
      apiVersion: 'v1',
      kind,
      metadata: { name: 'x', generation: 1 },
      status,
    });
    expect(objectMatters(object(now), object(before))).toBe(expected);
  },
);
