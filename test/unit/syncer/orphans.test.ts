import { expect, test } from 'vitest';
import { orphanOfAnnotation } from '../../../cluster/names.ts';
import { madeBy, orphanOf } from '../../../syncer/orphans.ts';

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
