import { expect, test } from 'vitest';
import { encodeStored } from '../../../../apiserver/registry/codec.ts';
import { isOfStatus } from '../../../../apiserver/view/of-status.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { Entry, StoreEvent } from '../../../../storage/store.ts';

const web: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', generation: 2, labels: { app: 'web' } },
  spec: { replicas: 1 },
  status: { replicas: 1 },
};
const changed = (metadata: object, rest: object = {}): KubeObject => ({
  ...web,
  ...rest,
  metadata: { ...web.metadata, ...metadata },
});
const entry = (object: KubeObject, revision: number): Entry => ({
  key: '/apps/deployments/root/shop/web',
  value: encodeStored(object),
  revision,
  created: 1,
});
const event = (object: KubeObject, before: KubeObject | null = web): StoreEvent => ({
  type: 'put',
  entry: entry(object, 2),
  ...(before && { previous: entry(before, 1) }),
});

test.each<[string, boolean, StoreEvent]>([
  ['its status', true, event(changed({}, { status: { replicas: 2 } }))],
  ['who wrote of it', true, event(changed({ managedFields: [{ manager: 'a' }] }, { status: {} }))],
  ['its first status', true, event(web, changed({}, { status: undefined }))],
  ['what it is to be', false, event(changed({ generation: 3 }, { spec: { replicas: 2 } }))],
  ['what it is to be, uncounted', false, event(changed({}, { spec: { replicas: 2 } }))],
  ['its labels', false, event(changed({ labels: { app: 'shop' } }))],
  ['its annotations', false, event(changed({ annotations: { a: 'b' } }))],
  ['that it is to go', false, event(changed({ deletionTimestamp: '2030-01-01T00:00:00Z' }))],
  ['who owns it', false, event(changed({ ownerReferences: [] }))],
  ['which object it is', false, event(changed({ uid: 'other' }))],
  ['what else it holds', false, event(changed({}, { data: { a: 'b' } }))],
  ['that it is there', false, event(web, null)],
  ['that it is gone', false, { type: 'delete', entry: entry(web, 2), previous: entry(web, 1) }],
])('an event that changes %s: of nothing that a cluster is told: %s', (_what, is, of) => {
  expect([isOfStatus(of), isOfStatus(of)]).toEqual([is, is]);
});

test('what cannot be read may be anything', () => {
  const value = Buffer.from('encrypted');
  expect(isOfStatus({ ...event(web), previous: { ...entry(web, 1), value } })).toBe(false);
});
