import { expect, it } from 'vitest';
import { ownersOfClaim } from '../../../controller/claims/decide.ts';
import type { KubeObject, OwnerReference } from '../../../kube/object.ts';

const owner = (more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: 'db',
  uid: 'db-uid',
  controller: true,
  blockOwnerDeletion: true,
  ...more,
});
const by: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'by', uid: 'by-uid' };
const set = (whenDeleted: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', uid: 'db-uid', ...metadata },
  spec: {
    replicas: 2,
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    persistentVolumeClaimRetentionPolicy: { whenDeleted },
  },
});
const claim = (name: string, ownerReferences: OwnerReference[] = [], metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, uid: 'c', ownerReferences, ...metadata },
});
const former = owner({ uid: 'former' });
const elsewhere = owner({ apiVersion: 'apps.kruise.io/v1', uid: 'kruise' });

it.each<[string, KubeObject, KubeObject, OwnerReference[] | undefined]>([
  ['is its set, which has it deleted', set('Delete'), claim('data-db-0'), [owner()]],
  ['is nobody, where it stays', set('Retain'), claim('data-db-0', [owner()]), []],
  ['stays as it is', set('Delete'), claim('data-db-0', [by, owner()]), undefined],
  ['is the set and whom somebody named', set('Delete'), claim('data-db-0', [by]), [by, owner()]],
  [
    'is another controller alone',
    set('Delete'),
    claim('data-db-0', [owner(), { ...by, controller: true }]),
    [{ ...by, controller: true }],
  ],
  [
    'is its set as Kubernetes has it',
    set('Delete'),
    claim('data-db-0', [owner({ controller: false })]),
    [owner()],
  ],
  ['is the former set of that name', set('Delete'), claim('data-db-0', [former]), undefined],
  ['is a set of another group', set('Delete'), claim('data-db-0', [elsewhere]), undefined],
  ['of an ordinal that it has not', set('Delete'), claim('data-db-2'), undefined],
  [
    'of an ordinal that it had, when claims went with it',
    set('Delete'),
    claim('data-db-2', [owner()]),
    undefined,
  ],
  ['while the set goes', set('Retain', { deletionTimestamp: 't' }), claim('data-db-0', [owner()]), undefined],
  ['while it goes', set('Retain'), claim('data-db-0', [owner()], { deletionTimestamp: 't' }), undefined],
])('the owner of a claim %s', (_what, of, one, owners) => {
  expect(ownersOfClaim(of, one)).toEqual(owners);
});
