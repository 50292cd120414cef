import { expect, test } from 'vitest';
import { orphanOfAnnotation } from '../../../cluster/names.ts';
import { lowerTo, madeBy, orphanOf } from '../../../syncer/orphans.ts';

const dependent = (
  kind: 'replicasets' | 'jobs' | 'pods',
  name: string,
  owner?: string,
  controller = true,
) => {
  const ownerReferences = owner ? [{ apiVersion: 'v1', kind: 'X', name: owner, uid: owner, controller }] : [];
  const group = { replicasets: 'apps', jobs: 'batch', pods: '' }[kind];
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name, uid: name, ownerReferences } };
  return { kind: { group, version: 'v1', resource: kind } as never, object };
};

test.each([
  ['directly', [dependent('pods', 'p', 'web'), dependent('pods', 'q', 'other')], ['p']],
  ['through a ReplicaSet', [dependent('replicasets', 's', 'web'), dependent('pods', 'p', 's')], ['s', 'p']],
  ['through a Job of a CronJob', [dependent('jobs', 'j', 'web'), dependent('pods', 'p', 'j')], ['j', 'p']],
  ['not controlled', [dependent('pods', 'p', 'web', false), dependent('pods', 'q')], []],
])('madeBy: %s', (_, all, expected) => {
  expect(madeBy('web', all).map(({ object }) => object.metadata.name)).toEqual(expected);
});

const mark = (syncer: string) =>
  JSON.stringify({
    syncer,
    cluster: 'team',
    namespace: 'shop',
    resource: 'statefulsets.apps',
    name: 'db',
    uid: 'u',
  });
test.each([
  ['marked', { annotations: { [orphanOfAnnotation]: mark('uid-east') } }, 'statefulsets.apps/team-shop/db'],
  ['not marked', {}, undefined],
  ['of another life of the cluster', { annotations: { [orphanOfAnnotation]: mark('other') } }, undefined],
  ['forged', { annotations: { [orphanOfAnnotation]: '{"syncer":' } }, undefined],
  [
    'adopted',
    {
      annotations: { [orphanOfAnnotation]: mark('uid-east') },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'anew', controller: true },
      ],
    },
    undefined,
  ],
])('orphanOf: %s', (_, metadata, expected) => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'db-0', namespace: 'team-shop', ...metadata },
  };
  expect(orphanOf(pod, 'uid-east')).toBe(expected);
});

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
