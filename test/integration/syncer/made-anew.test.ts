import { afterEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { numberAt } from '../../../kube/untyped.ts';
import { BarePhysical } from '../../world/bare.ts';
import { deployment, find, resources, until } from '../../world/objects.ts';
import { active, leaving, namespace, resourceOf, runSyncer } from '../../world/upstream.ts';
import { Sides } from './sides.ts';

const { deployments, pods, replicasets, services } = resources;
const sides = Sides.forEach();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => void (await Promise.all(ends.splice(0).map((end) => end()))));

type Resource = (typeof resources)[keyof typeof resources];
const seen = (resource: Resource, name: string) => find(sides.upstream.admin, resource, name, namespace);
const untilSeen = (resource: Resource, name: string) => until(`${name} is seen`, () => seen(resource, name));
const untilOther = (resource: Resource, { metadata }: KubeObject) =>
  until(`${metadata.name} is another`, async () => {
    const now = await seen(resource, metadata.name ?? '');
    return now && now.metadata.uid !== metadata.uid ? now : undefined;
  });

/** What the watch told of the one of this name, until what `isLast` says came. */
async function told(resource: Resource, name: string, isLast: (told: string[]) => boolean) {
  const life = new AbortController();
  const { metadata } = await sides.upstream.admin.list(resource, { namespace });
  const all: string[] = [];
  const options = { namespace, resourceVersion: metadata.resourceVersion ?? '', signal: life.signal };
  const done = (async () => {
    for await (const { type, object } of sides.upstream.admin.watch(resource, options)) {
      if (object.metadata.name === name) all.push(`${type} ${object.metadata.uid}`);
      if (isLast(all)) return all;
    }
    return all;
  })();
  ends.push(async () => life.abort());
  return done;
}

/** It goes there and comes again, as what it is called there: its controller makes it of the same. */
async function remake(physical: BarePhysical, object: KubeObject): Promise<KubeObject> {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _made, ...metadata } = object.metadata;
  const resource = object.kind === 'Endpoints' ? resources.endpoints : resourceOf(object);
  const at = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
  await physical.client.delete(resource, at, { propagationPolicy: 'Orphan' });
  await until('it is gone', async () => !(await physical.find(resource as Resource, at.namespace, at.name)));
  return await physical.client.create(resource, { ...object, metadata });
}

async function setOf(physical: BarePhysical): Promise<KubeObject> {
  const of = await until('it is there', () => physical.find(deployments, sides.upstream.home, 'web'));
  return await physical.child('ReplicaSet', 'web-5d', { of });
}

test('a ReplicaSet that was made anew while no syncer ran is another one, and so is the owner of its pods', async () => {
  await sides.upstream.place(deployment('web', 1), { east: active });
  sides.start();
  const set = await setOf(sides.physical);
  await sides.physical.child('Pod', 'web-1', { of: set });
  const before = await untilSeen(replicasets, 'web-5d');
  await untilSeen(pods, 'web-1');
  await sides.stop();
  await adopt(sides.physical, 'web-1', await remake(sides.physical, set));
  const news = told(replicasets, 'web-5d', (all) => all.some((one) => one.startsWith('ADDED')));
  sides.start();
  const after = await untilOther(replicasets, before);
  expect(after.metadata.ownerReferences).toEqual(before.metadata.ownerReferences);
  expect(after['spec']).toEqual(before['spec']);
  await until('its pod is under it', async () => {
    const [reference] = (await seen(pods, 'web-1'))?.metadata.ownerReferences ?? [];
    return reference?.uid === after.metadata.uid;
  });
  expect((await news).slice(-2)).toEqual([`DELETED ${before.metadata.uid}`, `ADDED ${after.metadata.uid}`]);
});

/** As its controller does with the pods that one of its name has left. */
async function adopt(physical: BarePhysical, pod: string, set: KubeObject): Promise<void> {
  const { apiVersion, kind, metadata } = set;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
  const at = { namespace: sides.upstream.home, name: pod };
  await physical.client.patch(pods, at, 'merge', { metadata: { ownerReferences: [owner] } });
}

test('what a syncer that starts finds as it was stays what it is', async () => {
  await sides.upstream.place(deployment('web', 1), { east: active });
  sides.start();
  const set = await setOf(sides.physical);
  const before = await untilSeen(replicasets, 'web-5d');
  await sides.stop();
  sides.start();
  await sides.physical.child('Pod', 'web-1', { of: set });
  const pod = await untilSeen(pods, 'web-1');
  expect(pod.metadata.ownerReferences).toMatchObject([{ uid: before.metadata.uid }]);
  expect((await seen(replicasets, 'web-5d'))?.metadata.uid).toBe(before.metadata.uid);
});

test('one that is made anew between two looks is another one, too; who holds the former here has it until it is let go', async () => {
  await sides.upstream.place(deployment('web', 1), { east: active });
  sides.start();
  const set = await setOf(sides.physical);
  const before = await untilSeen(replicasets, 'web-5d');
  const at = { namespace, name: 'web-5d' };
  const held = (finalizers: string[] | null) =>
    sides.upstream.admin.patch(replicasets, at, 'merge', { metadata: { finalizers } });
  await held(['example.com/held']);
  sides.physical.faults.silence();
  await remake(sides.physical, set);
  sides.physical.faults.heal();
  await until(
    'it is being deleted',
    async () => (await seen(replicasets, 'web-5d'))?.metadata.deletionTimestamp,
  );
  expect((await seen(replicasets, 'web-5d'))?.metadata.uid).toBe(before.metadata.uid);
  await held(null);
  const after = await untilOther(replicasets, before);
  expect(after.metadata.finalizers ?? []).toEqual([]);
});

test('of several clusters it is another one once each of them has made it anew', async () => {
  const west = await BarePhysical.start();
  ends.push(() => west.close());
  await sides.upstream.place(deployment('web', 2), { east: active, west: active });
  const there = runSyncer(sides.upstream, west.transport, 'west');
  ends.push(() => there.stop());
  sides.start();
  const clusters = async (wanted: string) => {
    const set = await seen(replicasets, 'web-5d');
    return set?.metadata.annotations?.['atoll.dev/physical-cluster'] === wanted ? set : undefined;
  };
  const sets = [await setOf(sides.physical), await setOf(west)] as const;
  const before = await until('it is of both', () => clusters('east,west'));
  await west.child('Pod', 'web-west', { of: sets[1] });
  await untilSeen(pods, 'web-west');
  const { metadata } = await remake(sides.physical, sets[0]);
  // It has been told of once what comes after it is.
  await sides.physical.child('Pod', 'web-east', { of: { ...sets[0], metadata } });
  await untilSeen(pods, 'web-east');
  const scaled = { spec: { replicas: 3 } };
  await sides.physical.client.patch(
    replicasets,
    { namespace: sides.upstream.home, name: 'web-5d' },
    'merge',
    scaled,
  );
  const half = await until('it is told of', async () => {
    const set = await seen(replicasets, 'web-5d');
    return numberAt(set, 'spec', 'replicas') === 4 ? set : undefined;
  });
  expect(half.metadata.uid).toBe(before.metadata.uid);
  await adopt(west, 'web-west', await remake(west, sets[1]));
  const { metadata: other } = await untilOther(replicasets, before);
  const after = await until('it is of both again', () => clusters('east,west'));
  expect(after.metadata.uid).toBe(other.uid);
  expect(after.spec).toMatchObject({ replicas: 4 });
  for (const name of ['web-east', 'web-west'])
    await until(`${name} is under it`, async () => {
      const [reference] = (await seen(pods, name))?.metadata.ownerReferences ?? [];
      return reference?.uid === after.metadata.uid;
    });
});

test('Endpoints are another, too', async () => {
  const { upstream, physical } = sides;
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  };
  await upstream.place(service, { east: active });
  sides.start();
  await sides.untilThere(services, 'web');
  const metadata = { name: 'web', namespace: upstream.home };
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata,
    subsets: [{ addresses: [{ ip: '10.0.0.1' }] }],
  };
  await physical.client.create(resources.endpoints, endpoints);
  const before = await untilSeen(resources.endpoints, 'web');
  await sides.stop();
  await remake(physical, endpoints);
  sides.start();
  expect((await untilOther(resources.endpoints, before))['subsets']).toEqual(before['subsets']);
});

test('one that comes back to a cluster that it had left is the one that it was', async () => {
  const west = await BarePhysical.start();
  ends.push(() => west.close());
  const ref = await sides.upstream.place(deployment('web', 2), { east: active, west: active });
  const there = runSyncer(sides.upstream, west.transport, 'west');
  ends.push(() => there.stop());
  sides.start();
  const of = (wanted: string) =>
    until(`it is of ${wanted}`, async () => {
      const set = await seen(replicasets, 'web-5d');
      return set?.metadata.annotations?.['atoll.dev/physical-cluster'] === wanted ? set : undefined;
    });
  await setOf(sides.physical);
  await setOf(west);
  const { uid } = (await of('east,west')).metadata;
  await sides.upstream.shares(ref, { east: leaving, west: active });
  await of('west');
  await until('it has left', async () => (await sides.upstream.slice(ref))?.present === false);
  await sides.upstream.shares(ref, { east: active, west: active });
  await setOf(sides.physical);
  await of('east,west');
  await sides.upstream.shares(ref, { east: active, west: leaving });
  expect((await of('east')).metadata.uid).toBe(uid);
});
