import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import {
  deployment,
  find,
  move,
  readyPods,
  resources,
  settled,
  statefulSet,
  until,
} from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ clusters: ['east', 'north', 'west'] });
});
afterEach(() => world.stop());

const record = (name: string) => find<Placement>(world.admin, resources.placements, name);
const waiting = async (name: string) =>
  (await record(name))?.status?.conditions?.find(({ type }) => type === 'Settled')?.message ?? '';
const phases = async (name: string) =>
  Object.fromEntries(
    Object.entries((await record(name))?.spec?.shares ?? {}).map(([c, { phase }]) => [c, phase]),
  );
const ready = async (cluster: string) => (await readyPods(world.physical(cluster), 'web')).length;

test('a target that settled and then falls silent holds what would leave on its strength', async () => {
  const web = 'web.deployments.apps';
  await world.admin.create(resources.deployments, deployment('web', 4, 'east'), { namespace: 'default' });
  await settled(world.admin, web);
  const north = world.physical('north').faults;
  north.intercept = ({ method, url }) => {
    if (method === 'PATCH' && url.includes('/deployments/')) throw new Error('north takes no workloads yet');
  };
  await move(world.admin, resources.deployments, 'web', 'north,west');
  await until('west has settled', async () => (await phases(web))['west'] === 'Active');
  world.physical('west').faults.silence();
  north.intercept = () => {};
  await until('all but west is there', async () => (await waiting(web)).startsWith('waiting for west;'));
  expect((await phases(web))['east']).toBe('Active');
  // What may be lost with west is held.
  expect((await ready('east')) + (await ready('north'))).toBeGreaterThanOrEqual(4);
  world.physical('west').faults.heal();
  await until('east is left', async () => (await phases(web))['east'] === undefined);
  expect([await ready('north'), await ready('west')]).toEqual([2, 2]);
});

test('a StatefulSet moves ordinal by ordinal: none is on two clusters at any time', async () => {
  const db = 'db.statefulsets.apps';
  await world.admin.create(resources.statefulsets, statefulSet('db', 3, 'east'), { namespace: 'default' });
  await settled(world.admin, db);
  await move(world.admin, resources.statefulsets, 'db', 'west');
  const pods = async (cluster: string) => {
    const { items } = await world.physical(cluster).client.list(resources.pods, { labelSelector: 'app=db' });
    return items.map(({ metadata }) => metadata.name ?? '').sort();
  };
  await until('all of it is on west, and nothing on east', async () => {
    const [east, west] = [await pods('east'), await pods('west')];
    expect(east.filter((name) => west.includes(name))).toEqual([]);
    return east.length === 0 && (await readyPods(world.physical('west'), 'db')).length === 3;
  });
  expect(await pods('west')).toEqual(['db-0', 'db-1', 'db-2']);
  await settled(world.admin, db);
});

test('nothing stops for a cluster of which every node is cordoned, and it moves when one takes pods', async () => {
  const db = 'db.statefulsets.apps';
  await world.admin.create(resources.statefulsets, statefulSet('db', 1, 'east'), { namespace: 'default' });
  await settled(world.admin, db);
  const { client } = world.physical('west');
  const cordon = async (unschedulable: boolean) => {
    for (const { metadata } of (await client.list(resources.nodes)).items)
      await client.patch(resources.nodes, { name: metadata.name ?? '' }, 'merge', {
        spec: { unschedulable },
      });
    await until('west has told', async () => {
      const west = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'west', '');
      return (west?.status?.allocatable?.['pods'] === '0') === unschedulable;
    });
  };
  await cordon(true);
  await move(world.admin, resources.statefulsets, 'db', 'west');
  const why = await until(
    'it is refused',
    async () => (await record('db.statefulsets.apps'))?.spec?.reasons?.['west'],
  );
  expect(why).toBe('needs 1 pod, 0 left');
  expect(await readyPods(world.physical('east'), 'db')).toEqual(['db-0']);
  await cordon(false);
  await until('it moves', async () => (await readyPods(world.physical('west'), 'db')).length === 1);
});

test('what is orphaned on its way leaves its pods once, where they were', async () => {
  const where = { namespace: 'default', name: 'web' };
  await world.admin.create(resources.deployments, deployment('web', 3, 'east'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  const before = await readyPods(world.physical('east'), 'web');
  const metadata = { annotations: { 'atoll.dev/paused': 'true', 'atoll.dev/clusters': 'west' } };
  await world.admin.patch(resources.deployments, where, 'merge', { metadata });
  await until('it is on both', async () => (await ready('west')) === 3);
  await world.admin.delete(resources.deployments, where, { propagationPolicy: 'Orphan' });
  const pods = async (cluster: string) =>
    (await world.physical(cluster).client.list(resources.pods, { labelSelector: 'app=web' })).items.length;
  await until('none is left on west', async () => (await pods('west')) === 0);
  await until('its object is gone on east', async () => {
    return (await record('web.deployments.apps'))?.status?.clusters?.['east']?.orphans === true;
  });
  expect(await readyPods(world.physical('east'), 'web')).toEqual(before);
  await world.admin.create(resources.deployments, deployment('web', 3, 'west'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  expect([await pods('east'), await ready('west')]).toEqual([0, 3]);
});

test('what was moved before it had settled stays until its replacement is ready, whatever was heard of it last', async () => {
  const web = 'web.deployments.apps';
  const [east, west] = [world.physical('east'), world.physical('west')];
  let tell: () => void = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  onTestFinished(() => tell());
  let refused = 0;
  east.upstream.intercept = ({ method, url }) =>
    method !== 'GET' && url.includes('/shares/') ? told : undefined;
  west.faults.intercept = ({ method, url }) => {
    if (method !== 'PATCH' || !url.includes('/deployments/')) return;
    refused += 1;
    throw new Error('west takes no workloads yet');
  };
  await world.admin.create(resources.deployments, deployment('web', 3, 'east'), { namespace: 'default' });
  await until('east is ready', async () => (await ready('east')) === 3);
  await move(world.admin, resources.deployments, 'web', 'west');
  await until('west has been asked for it', () => refused >= 3);
  expect((await record(web))?.spec?.shares?.['east']).toMatchObject({ phase: 'Joining', replicas: 3 });
  let fewest = 3;
  const sample = async () => {
    fewest = Math.min(fewest, (await ready('east')) + (await ready('west')));
    return fewest;
  };
  tell();
  west.faults.intercept = () => {};
  await until('east is left', async () => {
    await sample();
    return (await phases(web))['east'] === undefined;
  });
  expect(await sample()).toBe(3);
});
