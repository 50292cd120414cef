import { expect, test } from 'vitest';
import { isReadable, readability } from '../../../cluster/readable.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';

const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const cluster = (kinds?: readonly string[]): PhysicalCluster => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east' },
  status: { conditions: kinds ? [{ type: 'Readable', ...readability(kinds), lastTransitionTime: '' }] : [] },
});

test.each<[string, PhysicalCluster | undefined, boolean]>([
  ['nobody knows the cluster', undefined, true],
  ['it has not said yet', cluster(), true],
  ['every kind may be read', cluster([]), true],
  ['another kind may not', cluster(['services', 'xendpointslices.discovery.k8s.io']), true],
  ['it is among those', cluster(['cronjobs.batch', 'endpointslices.discovery.k8s.io']), false],
])('whether a kind is readable: %s', (_what, of, expected) => {
  expect(isReadable(of, slices)).toBe(expected);
});
