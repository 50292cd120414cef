import { afterEach, beforeEach, expect, test } from 'vitest';
import { credentialsOf, systemNamespace } from '../../../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import { deployment, find, isReady, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  await world.simulate('another');
});
afterEach(() => world.stop());

/** As somebody does who takes one kubeconfig for another. */
async function leadTo(name: string, other: string): Promise<void> {
  const kubeconfig = Buffer.from(world.physical(other).kubeconfig).toString('base64');
  const target = { namespace: systemNamespace, name: credentialsOf(name) };
  await world.admin.patch(resources.secrets, target, 'merge', { data: { kubeconfig } });
}

async function why(name: string): Promise<string> {
  const found = await find<PhysicalCluster>(world.admin, resources.physicalclusters, name, '');
  return found?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}

const on = (name: string) => readyPods(world.physical(name), 'web');

async function runWeb(): Promise<string[]> {
  await world.admin.create(resources.deployments, deployment('web', 2, 'west'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  return await on('west');
}

test('what another cluster does not have is not gone: nothing is made there, and what is deleted goes where it runs', async () => {
  const pods = await runWeb();
  expect(pods.length).toBe(2);
  await leadTo('west', 'another');
  await until('it is said', async () => (await why('west')).includes('another cluster answers'));
  expect(await isReady(world.admin, 'west')).toBe(false);
  await world.admin.delete(resources.deployments, { namespace: 'default', name: 'web' });
  const isLeaving = async () => {
    const found = await find<Placement>(world.admin, resources.placements, 'web.deployments.apps');
    return found?.spec?.shares?.['west']?.phase === 'Leaving';
  };
  await until('it is told to leave', isLeaving);
  await until('it is asked of a few times since', async () => {
    const { requests } = world.physical('west').faults;
    const asked = requests.length;
    await until('once more', () => requests.length > asked + 3);
    return true;
  });
  expect(await isLeaving(), 'nobody has said that it is gone').toBe(true);
  expect(await on('another')).toEqual([]);
  expect(await on('west')).toEqual(pods);
  await leadTo('west', 'west');
  await until('it goes where it is', async () => (await on('west')).length === 0);
  await until('its Placement goes', async () => !(await isLeaving()));
});

test('one that stands in for a cluster that is no more gets all of it once somebody says so', async () => {
  await runWeb();
  await leadTo('west', 'another');
  await until('it is said', async () => (await why('west')).includes('another cluster answers'));
  const target = { name: 'west', subresource: 'status' };
  await world.admin.patch(resources.physicalclusters, target, 'merge', { status: { clusterUID: null } });
  await until('it is taken', async () => (await on('another')).length === 2);
});

test('as long as nothing was there it is the one whose kubeconfig it has', async () => {
  await leadTo('west', 'another');
  const uid = async () =>
    (await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'west', ''))?.status?.clusterUID;
  const before = await uid();
  await until('it is another', async () => (await uid()) !== before);
  await until('it is ready', () => isReady(world.admin, 'west'));
  await world.admin.create(resources.deployments, deployment('web', 2, 'west'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  expect((await on('another')).length).toBe(2);
});
