import { expect, test } from 'vitest';
import { lowerTo } from '../../../syncer/lowered.ts';

test.each<[string, string, number, object, object, number | undefined]>([
  ['more than it leaves', 'Deployment', 4, { replicas: 2 }, {}, 2],
  ['none of it', 'ReplicaSet', 4, { replicas: 0 }, {}, 0],
  ['as many', 'Deployment', 2, { replicas: 2 }, {}, undefined],
  ['fewer', 'Deployment', 1, { replicas: 2 }, {}, undefined],
  ['as an autoscaler says', 'Deployment', 4, { replicas: 2, scaled: 1 }, {}, undefined],
  ['each another one', 'StatefulSet', 4, { replicas: 2 }, {}, undefined],
  ['what is not divided', 'Deployment', 4, {}, {}, undefined],
  [
    'as a Deployment says',
    'ReplicaSet',
    4,
    { replicas: 2 },
    {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'w', uid: 'u', controller: true }],
    },
    undefined,
  ],
])('what is orphaned and has more replicas there than it leaves is told first: %s', (...row) => {
  const [, kind, replicas, share, metadata, expected] = row;
  const object = { apiVersion: 'apps/v1', kind, metadata: { name: 'web', ...metadata }, spec: { replicas } };
  expect(lowerTo(object, { phase: 'Leaving', ...share })).toBe(expected);
});
