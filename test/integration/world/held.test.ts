import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { textAt } from '../../../kube/untyped.ts';
import { deployment, find, readyPods, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { configmaps, deployments, persistentvolumeclaims: claims, placements, pods, statefulsets } = resources;
const inDefault = { namespace: 'default' };
const finalizers = ['example.com/counts'];
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

test('whoever evicts a pod that its finalizer holds evicts no other of that name', async () => {
  const { admin } = world;
  const east = world.physical('east').client;
  await admin.create(statefulsets, statefulSet('db', 1, 'east'), inDefault);
  await settled(admin, 'db.statefulsets.apps');
  const at = { ...inDefault, name: 'db-0' };
  const there = async () => (await east.list(pods, { labelSelector: 'app=db' })).items[0]?.metadata;
  const first = (await there())?.uid;
  await admin.patch(pods, at, 'merge', { metadata: { finalizers } });
  await admin.delete(pods, at);
  await until('another runs', async () => {
    const isReady = (await readyPods(world.physical('east'), 'db')).length === 1;
    return isReady && (await there())?.uid !== first;
  });
  await until('it is held', async () => {
    const held = await find(admin, pods, 'db-0');
    return held?.metadata.annotations?.['internal.atoll.dev/held'];
  });
  const second = (await there())?.uid;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: at };
  await admin.create(pods, eviction, { ...at, subresource: 'eviction' });
  const now = await there();
  expect([now?.uid, now?.deletionTimestamp]).toEqual([second, undefined]);
});

const template = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

test('a drain takes no set from data whose claim is not shown, since a finalizer holds the former of that name', async () => {
  const { admin } = world;
  const at = { ...inDefault, name: 'data-db-0' };
  const make = () => {
    const set = statefulSet('db', 1);
    const spec = { ...(set.spec as object), volumeClaimTemplates: [template] };
    return admin.create(statefulsets, { ...set, spec }, inDefault);
  };
  const claimsOn = async (name: string) => (await world.physical(name).client.list(claims)).items;
  await make();
  await settled(admin, 'db.statefulsets.apps');
  await until('bound', async () => textAt(await find(admin, claims, at.name), 'status', 'phase') === 'Bound');
  await admin.patch(claims, at, 'merge', { metadata: { finalizers } });
  await admin.delete(statefulsets, { ...inDefault, name: 'db' });
  await until('gone', async () => {
    const left = await find(admin, statefulsets, 'db');
    return !left && !(await find(admin, placements, 'db.statefulsets.apps'));
  });
  await admin.delete(claims, at);
  await until(
    'gone there',
    async () => (await Promise.all(['east', 'west'].map(claimsOn))).flat().length === 0,
  );
  await make();
  const [from = ''] = (await settled(admin, 'db.statefulsets.apps')).spec?.clusters ?? [];
  await until(
    'its claim is there',
    async () => textAt((await claimsOn(from))[0], 'status', 'phase') === 'Bound',
  );
  await admin.patch(resources.physicalclusters, { name: from }, 'merge', { spec: { drain: true } });
  const decided = await until('it is decided', async () => {
    const now = await find<Placement>(admin, placements, 'db.statefulsets.apps');
    const isMoved = now?.spec?.clusters.join() !== from;
    return isMoved || now?.spec?.reasons?.[from]?.includes('data-db-0') ? now : undefined;
  });
  expect(decided.spec?.clusters).toEqual([from]);
});

test('an owner that waits for its dependents waits for no pod that a workload has', async () => {
  const { admin } = world;
  await admin.create(deployments, deployment('web', 1, 'east'), inDefault);
  await settled(admin, 'web.deployments.apps');
  const pod = await until('it is shown', async () =>
    (await admin.list(pods, inDefault)).items.find(({ metadata }) => metadata.ownerReferences?.length),
  );
  const { name = '', ownerReferences = [] } = pod.metadata;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'second', ...inDefault } };
  const { uid = '' } = (await admin.create(configmaps, object, inDefault)).metadata;
  const second = { apiVersion: 'v1', kind: 'ConfigMap', name: 'second', uid, blockOwnerDeletion: true };
  const metadata = { ownerReferences: [...ownerReferences, second] };
  await admin.patch(pods, { ...inDefault, name }, 'merge', { metadata });
  await admin.delete(configmaps, { ...inDefault, name: 'second' }, { propagationPolicy: 'Foreground' });
  await until('it is gone', async () => !(await find(admin, configmaps, 'second')));
  expect((await find(admin, pods, name))?.metadata.deletionTimestamp).toBeUndefined();
});
