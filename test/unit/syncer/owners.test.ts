import { expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ResourceRef } from '../../../client/url.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { encodeJson } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { ruledRefs } from '../../../syncer/engine.ts';
import { Owners } from '../../../syncer/owners.ts';
import type { Physical } from '../../../syncer/physical.ts';
import type { Unreadable } from '../../../syncer/unreadable.ts';

const group = 'fleet.example.com';

/** Of one kind: as two tenants' definitions have it, of resources of their own. */
const shares = ['gadgets', 'clonesets', 'clonesets'].map((resource) => ({
  spec: { ref: { group, version: 'v1', resource, kind: 'CloneSet', name: 'web', uid: 'u', rule: {} } },
})) as unknown as ShareView[];

const set = (resource: string, uid: string): KubeObject => {
  const locator = {
    syncer: 's',
    cluster: 'one',
    namespace: 'shop',
    resource: `${resource}.${group}`,
    name: 'web',
    uid: `${uid}-here`,
  };
  const annotations = { 'atoll.dev/locator': JSON.stringify(locator) };
  return { apiVersion: `${group}/v1`, kind: 'CloneSet', metadata: { name: 'web', uid, annotations } };
};

function ownersOf(cached: Record<string, KubeObject>, unreadable: string[] = []): Owners {
  const informer = { byIndex: () => shares } as unknown as Informer<ShareView>;
  return new Owners({
    client: {} as Client,
    physical: { cached: ({ resource }: ResourceRef) => cached[resource] } as unknown as Physical,
    syncer: 's',
    former: new Set(),
    unreadable: {
      has: ({ resource }: ResourceRef) => unreadable.includes(resource),
    } as unknown as Unreadable,
    ruled: (of, kind) => ruledRefs(informer, of, kind),
    seen: () => undefined,
    signal: new AbortController().signal,
  });
}

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    namespace: 'there',
    ownerReferences: [
      { apiVersion: `${group}/v1`, kind: 'CloneSet', name: 'web', uid: 'p', controller: true },
    ],
  },
};

it('of resources whose kinds are called alike it is the one that has the very object', async () => {
  const cached = { gadgets: set('gadgets', 'other'), clonesets: set('clonesets', 'p') };
  expect(await ownersOf(cached).rootOf(pod)).toMatchObject({
    target: 'clonesets.fleet.example.com/there/web',
    reference: { uid: 'p-here' },
  });
});

it('while one of them may not be read nobody knows', async () => {
  expect(await ownersOf({ gadgets: set('gadgets', 'other') }, ['clonesets']).rootOf(pod)).toEqual({
    among: ['clonesets.fleet.example.com'],
  });
  expect(await ownersOf({ gadgets: set('gadgets', 'other') }).rootOf(pod)).toBeUndefined();
});

const locator = {
  syncer: 's',
  cluster: 'one',
  namespace: 'shop',
  resource: 'deployments.apps',
  name: 'web',
  uid: 'web-here',
};
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', uid: 'web', annotations: { 'atoll.dev/locator': JSON.stringify(locator) } },
};
const owned = (kind: string, by: string, name: string, uid: string, own: string): KubeObject => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  metadata: {
    name: `${own}`,
    uid: own,
    namespace: 'there',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: by, name, uid, controller: true }],
  },
});
const replicas = owned('ReplicaSet', 'Deployment', 'web', 'web', 'web-1');
const orphan = { ...replicas, metadata: { ...replicas.metadata, ownerReferences: [] } };

it.each<[string, KubeObject | undefined, number]>([
  ['that was seen is taken from there', replicas, 0],
  ['that was not seen yet is asked for', undefined, 1],
  ['of another uid is asked for', { ...replicas, metadata: { ...replicas.metadata, uid: 'former' } }, 1],
  ['that had no controller when it was seen is asked for', orphan, 1],
  [
    'of a controller that is none of ours is asked for',
    owned('ReplicaSet', 'Deployment', 'web', 'other', 'web-1'),
    1,
  ],
])('what controls a ReplicaSet %s', async (_what, seen, asked) => {
  let requests = 0;
  const client = new Client(async () => {
    requests++;
    return { status: 200, headers: {}, body: Buffer.from(encodeJson(replicas)) };
  });
  const owners = new Owners({
    client,
    physical: {
      cached: ({ resource }: ResourceRef) => (resource === 'deployments' ? deployment : undefined),
    } as unknown as Physical,
    syncer: 's',
    former: new Set(),
    unreadable: { has: () => false } as unknown as Unreadable,
    ruled: () => [],
    seen: () => seen,
    signal: new AbortController().signal,
  });
  const root = await owners.rootOf(owned('Pod', 'ReplicaSet', 'web-1', 'web-1', 'web-1-a'));
  expect(root).toMatchObject({ target: 'deployments.apps/there/web', reference: { uid: 'web-here' } });
  expect(requests).toBe(asked);
});
