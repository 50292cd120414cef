import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, move, resources, settled, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, placements, pods, statefulsets } = resources;
const inDefault = { namespace: 'default' };
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

async function run(name: string, replicas: number, clusters = 'east'): Promise<string> {
  const made = await world.admin.create(deployments, deployment(name, replicas, clusters), inDefault);
  await settled(world.admin, `${name}.deployments.apps`);
  return made.metadata.uid ?? '';
}

const shown = async (app: string) =>
  (await world.admin.list(pods, { ...inDefault, labelSelector: `app=${app}` })).items;
const there = async (app: string, cluster = 'east') =>
  (await world.physical(cluster).client.list(pods, { labelSelector: `app=${app}` })).items;
const ownersOf = (pod: KubeObject | undefined) =>
  (pod?.metadata.ownerReferences ?? [])
    .map(({ kind, name }) => `${kind}/${name}`.replace(/-[^-]*$/, ''))
    .sort();
const owner = (name: string, uid: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name, uid });

/** Of one of the pods, as kubectl patch does. */
async function give(app: string, reference: object): Promise<string> {
  const pod = await until('its pods are shown', async () => {
    const found = await shown(app);
    return found.length > 1 && found.every((one) => ownersOf(one).length === 1) ? found[0] : undefined;
  });
  const { name = '' } = pod.metadata;
  await world.admin.patch(pods, { ...inDefault, name }, 'strategic', {
    metadata: { ownerReferences: [reference] },
  });
  return name;
}

const named = (all: readonly KubeObject[], name: string) =>
  all.find(({ metadata }) => metadata.name === name);
const goes = (name: string) =>
  world.admin.delete(deployments, { ...inDefault, name }, { propagationPolicy: 'Foreground' });
const isGone = async (name: string) =>
  !(await find(world.admin, deployments, name)) &&
  !(await find(world.admin, placements, `${name}.deployments.apps`));

test('a pod with two owners stays, where it runs and here, when its controller goes; then it goes with the other', async () => {
  const uid = await run('stays', 0);
  await run('goes', 3);
  const name = await give('goes', owner('stays', uid));
  expect(ownersOf(named(await there('goes'), name))).toEqual(['Deployment/stays', 'ReplicaSet/goes']);
  expect(ownersOf(named(await shown('goes'), name))).toEqual(['Deployment/stays', 'ReplicaSet/goes']);
  await goes('goes');
  await until('it is gone', () => isGone('goes'));
  await until('the others are gone', async () => (await shown('goes')).length === 1);
  const [left] = await shown('goes');
  expect([left?.metadata.name, left?.metadata.deletionTimestamp]).toEqual([name, undefined]);
  expect(left?.metadata.ownerReferences).toEqual([owner('stays', uid)]);
  expect(ownersOf(named(await there('goes'), name))).toEqual(['Deployment/stays']);

  // Its syncer starts anew, and has only what is there.
  const spec = { namespaceLabels: ['example.com/*'] };
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', { spec });
  const [pod] = await there('goes');
  const labels = { heard: 'again' };
  await world
    .physical('east')
    .client.patch(pods, { namespace: pod?.metadata.namespace, name }, 'merge', { metadata: { labels } });
  await until('it is heard of again', async () => (await shown('goes'))[0]?.metadata.labels?.['heard']);
  expect((await shown('goes')).map(({ metadata }) => metadata.ownerReferences)).toEqual([
    [owner('stays', uid)],
  ]);
  await goes('stays');
  await until('it is gone', () => isGone('stays'));
  await until('the pod too', async () => [...(await there('goes')), ...(await shown('goes'))].length === 0);
});

test('left by its controller and by an owner that is deleted without it, it runs on, is shown, and can be deleted', async () => {
  const uid = await run('stays', 0);
  await run('goes', 2);
  const name = await give('goes', owner('stays', uid));
  await goes('goes');
  await until('its controller is gone', () => isGone('goes'));
  const at = { ...inDefault, name: 'stays' };
  await world.admin.delete(deployments, at, { propagationPolicy: 'Orphan' });
  await until('its owner is gone', async () => !(await find(world.admin, deployments, 'stays')));
  await until('nobody owns it there', async () => ownersOf(named(await there('goes'), name)).length === 0);
  const [pod] = await there('goes');
  const metadata = { labels: { heard: 'again' } };
  const { namespace } = pod?.metadata ?? {};
  await world.physical('east').client.patch(pods, { namespace, name }, 'merge', { metadata });
  await until('it is shown', async () => (await shown('goes'))[0]?.metadata.labels?.['heard']);
  await world.admin.delete(pods, { ...inDefault, name });
  await until(
    'the pod is gone',
    async () => [...(await there('goes')), ...(await shown('goes'))].length === 0,
  );
});

test('an owner that is taken away again owns it no more there either', async () => {
  const uid = await run('stays', 0);
  await run('goes', 2);
  const name = await give('goes', owner('stays', uid));
  expect(ownersOf(named(await there('goes'), name))).toHaveLength(2);
  await world.admin.patch(pods, { ...inDefault, name }, 'strategic', {
    metadata: { ownerReferences: [{ $patch: 'delete', uid }] },
  });
  expect(ownersOf(named(await there('goes'), name))).toEqual(['ReplicaSet/goes']);
  await goes('goes');
  await until('all are gone', async () => (await isGone('goes')) && (await shown('goes')).length === 0);
});

test('an owner that comes there later owns it from then on', async () => {
  const uid = await run('stays', 0, 'west');
  await run('goes', 2);
  const name = await give('goes', owner('stays', uid));
  expect(ownersOf(named(await there('goes'), name))).toEqual(['ReplicaSet/goes']);
  await move(world.admin, deployments, 'stays', 'east');
  await until('it is its owner there', async () => ownersOf(named(await there('goes'), name)).length === 2);
  await goes('goes');
  await until('one is left', async () => (await isGone('goes')) && (await shown('goes')).length === 1);
});

test('a workload that moves leaves none of its pods behind, whoever owns them too', async () => {
  const uid = await run('stays', 0);
  await run('moves', 2);
  const name = await give('moves', owner('stays', uid));
  expect(ownersOf(named(await there('moves'), name))).toHaveLength(2);
  await move(world.admin, deployments, 'moves', 'west');
  await until('it runs on west alone', async () => {
    const [from, to] = await Promise.all([there('moves'), there('moves', 'west')]);
    return from.length === 0 && to.length === 2;
  });
  await until('two are shown', async () => (await shown('moves')).every((one) => ownersOf(one).length === 1));
});

test.each(['moves', 'is deleted'])(
  'two that give a pod owners at once hold up no workload that %s',
  async (how) => {
    const first = await run('first', 0);
    const other = await run('other', 0);
    await run('app', 2);
    const { faults } = world.physical('east');
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const pod = await until('its pods are shown', async () => {
      const found = await shown('app');
      return found.length > 1 && found.every((one) => ownersOf(one).length === 1) ? found[0] : undefined;
    });
    const { name = '' } = pod.metadata;
    const isChange = (method: string, url: string) => method === 'PATCH' && url.endsWith(`/pods/${name}`);
    let changes = 0;
    faults.intercept = async ({ method, url }) => {
      if (isChange(method, url) && ++changes === 1) await held;
    };
    const giving = give('app', owner('first', first));
    await until('it is asked for', () => changes === 1);
    await give('app', owner('other', other));
    letGo();
    await giving;
    expect(ownersOf(named(await there('app'), name))).toHaveLength(3);
    if (how === 'moves') await move(world.admin, deployments, 'app', 'west');
    else await goes('app');
    await until('nothing of it is left', async () => {
      const left = await there('app');
      return how === 'moves'
        ? left.length === 0 && (await there('app', 'west')).length === 2
        : left.length === 1 && (await isGone('app'));
    });
    if (how === 'moves') return;
    expect(ownersOf((await shown('app'))[0])).toEqual(['Deployment/first', 'Deployment/other']);
  },
);

test('nor does a StatefulSet whose pod somebody calls its own anew, without saying that it controls it', async () => {
  const made = await world.admin.create(statefulsets, statefulSet('db', 1, 'east'), inDefault);
  await until('its pod is shown', async () => (await shown('db')).length === 1);
  const { uid = '' } = made.metadata;
  const reference = { ...owner('db', uid), kind: 'StatefulSet' };
  const change = { metadata: { ownerReferences: [reference] } };
  await world.admin.patch(pods, { ...inDefault, name: 'db-0' }, 'merge', change);
  await until(
    'it controls it',
    async () => (await shown('db'))[0]?.metadata.ownerReferences?.[0]?.controller,
  );
  await move(world.admin, statefulsets, 'db', 'west');
  await until('it runs on west', async () => (await there('db', 'west')).length === 1);
  const placement = await settled(world.admin, 'db.statefulsets.apps');
  expect(Object.keys(placement.spec?.shares ?? {})).toEqual(['west']);
  expect(await there('db')).toEqual([]);
});

test('an owner that takes long to go there lets go of a pod once, and for good', async () => {
  const uid = await run('stays', 1);
  await run('goes', 2);
  const name = await give('goes', { ...owner('stays', uid), blockOwnerDeletion: true });
  const { client, faults } = world.physical('east');
  const [held] = await there('stays');
  const { namespace = '' } = held?.metadata ?? {};
  const at = { namespace, name: held?.metadata.name ?? '' };
  const hold = (finalizers: string[] | null) => client.patch(pods, at, 'merge', { metadata: { finalizers } });
  await hold(['example.com/node-that-is-dead']);
  await world.admin.delete(deployments, { ...inDefault, name: 'stays' });
  const ownsNoMore = async () => ownersOf(named(await there('goes'), name)).length === 1;
  await until('it lets go', ownsNoMore);
  const metadata = { labels: { heard: 'again' } };
  await client.patch(pods, { namespace, name }, 'merge', { metadata });
  await until(
    'it was heard of since',
    async () => named(await shown('goes'), name)?.metadata.labels?.['heard'],
  );
  expect(await ownsNoMore()).toBe(true);
  const writes = faults.requests.filter((one) => one.startsWith('PATCH') && one.includes(`/pods/${name}`));
  // The one that made it an owner.
  expect(writes).toHaveLength(1);
  await hold(null);
  await until('it is gone', () => isGone('stays'));
});

test('nobody else’s object of that name, and no other of theirs, owns it there', async () => {
  await run('goes', 2);
  const physical = world.physical('east').client;
  const uid = await run('stays', 0, 'west');
  const [pod] = await there('goes');
  const { namespace = '' } = pod?.metadata ?? {};
  const { metadata, ...foreign } = deployment('stays', 0);
  const made = await physical.create(deployments, { ...foreign, metadata: { name: 'stays' } }, { namespace });
  const wrong = [owner('stays', uid), owner('stays', made.metadata.uid ?? ''), owner('goes', uid)];
  expect(metadata.name).toBe('stays');
  for (const reference of wrong) {
    const name = await give('goes', reference);
    expect(ownersOf(named(await there('goes'), name))).toEqual(['ReplicaSet/goes']);
    await world.admin.patch(pods, { ...inDefault, name }, 'strategic', {
      metadata: { ownerReferences: [{ $patch: 'delete', uid: reference.uid }] },
    });
  }
});
