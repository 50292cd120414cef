import { expect, test } from 'vitest';
import { heldWords } from '../../../cli/remove.ts';

const east = (spec: object, deletionTimestamp?: string) => ({
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'east', ...(deletionTimestamp && { deletionTimestamp }) },
  spec: { kubeconfigSecretRef: { namespace: 'atoll-system', name: 'east' }, ...spec },
});

test.each([
  [
    'at first',
    east({}),
    3,
    'east still holds 3 objects: run atoll drain east first, or --forget to give them up',
  ],
  [
    'while it is drained',
    east({ drain: true }),
    1,
    'east still holds 1 object, and is being drained: atoll drain east shows what it waits for, and ends when it is empty; --forget gives them up',
  ],
  [
    'while it is removed',
    east({ drain: true }, '2026-01-01T00:00:00Z'),
    2,
    'east still holds 2 objects, and is being removed: it is gone when they have left; --forget gives them up',
  ],
])('who removes a cluster that is not empty is told what is left to do: %s', (_, cluster, count, words) => {
  expect(heldWords(cluster, count)).toBe(words);
});
