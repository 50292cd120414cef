import { expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { stateOf } from '../../../syncer/departure.ts';

const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'u',
};
const settled = (status: 'True' | 'False', reason: string, message: string) => [
  { type: 'Settled', status, reason, message, lastTransitionTime: '' },
];

test.each<[string, NonNullable<Placement['spec']>, Placement['status'], string]>([
  ['it is to stay', { ref, clusters: ['west'], reasons: { west: 'no other fits' } }, {}, ' (no other fits)'],
  [
    'it is paused',
    { ref, clusters: ['east'] },
    { conditions: settled('False', 'Paused', 'paused by annotation') },
    ' (paused by annotation)',
  ],
  [
    'it leaves',
    { ref, clusters: ['east'] },
    { conditions: settled('False', 'Leaving', 'still on west') },
    '',
  ],
  ['nothing has been said', { ref, clusters: ['east'] }, {}, ''],
  [
    'it was settled',
    { ref, clusters: ['east'] },
    { conditions: settled('True', 'Settled', 'as it should be') },
    '',
  ],
])('what keeps a cluster that is to go says why, where %s', (_what, spec, status, why) => {
  const metadata = { namespace: 'shop', annotations: { 'kcp.io/cluster': 'root' } };
  const placement = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata,
    spec,
    status,
  } as Placement;
  expect(stateOf('west', placement)).toBe(`root/shop/deployments.apps/web${why}`);
});
