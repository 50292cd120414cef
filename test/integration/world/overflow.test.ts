import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { deployment, find, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, placements, physicalclusters } = resources;
const shop = { namespace: 'default' };
const web = { ...shop, name: 'web' };

let world: World;
beforeAll(async () => {
  world = await startWorld();
  for (const name of ['east', 'west']) await room(name, 4);
}, 60_000);
afterAll(() => world.stop());

const room = (name: string, pods: number) =>
  world.admin.patch(physicalclusters, { name }, 'merge', { spec: { capacity: { pods: String(pods) } } });
const counts = async () => [
  (await readyPods(world.physical('east'), 'web')).length,
  (await readyPods(world.physical('west'), 'web')).length,
];

/** Until so many run in east and in west, and nothing is under way; the fewest of all before. */
async function comesTo(east: number, west: number): Promise<number> {
  let fewest = Infinity;
  await until(`${east} in east, ${west} in west`, async () => {
    const found = await counts();
    fewest = Math.min(fewest, (found[0] ?? 0) + (found[1] ?? 0));
    const { spec, status } =
      (await find<Placement>(world.admin, placements, 'web.deployments.apps', 'default')) ?? {};
    const isSettled = status?.conditions?.some(({ type, status }) => type === 'Settled' && status === 'True');
    const isShared = Object.keys(spec?.shares ?? {}).length === Number(east > 0) + Number(west > 0);
    return isSettled === true && isShared && found[0] === east && found[1] === west;
  });
  return fewest;
}

const scale = (replicas: number) => world.admin.patch(deployments, web, 'merge', { spec: { replicas } });

test('what has no room where it is runs on one more cluster, and comes back when it has', async () => {
  const made = deployment('web', 3);
  const annotations = { 'atoll.dev/overflow': 'true' };
  await world.admin.create(deployments, { ...made, metadata: { ...made.metadata, annotations } }, shop);
  await comesTo(3, 0);
  await scale(6);
  await comesTo(4, 2);
  const record = await find<Placement>(world.admin, placements, 'web.deployments.apps', 'default');
  expect(record?.spec).toMatchObject({
    clusters: ['east', 'west'],
    spread: { topologyKey: 'cluster', replicas: { east: 4, west: 2 } },
    reasons: { east: 'it takes 4 pods', west: 'it takes 2 pods that have no room on east' },
  });
  await room('east', 10);
  expect(await comesTo(6, 0)).toBeGreaterThanOrEqual(6);
  await room('east', 4);
  expect(await comesTo(4, 2)).toBeGreaterThanOrEqual(6);
  await scale(3);
  expect(await comesTo(3, 0)).toBeGreaterThanOrEqual(3);
});

test('room that another workload leaves is seen, though no cluster says a word', async () => {
  await scale(2);
  await comesTo(2, 0);
  await world.admin.create(deployments, deployment('other', 2, 'east'), shop);
  await until('other is there', async () => (await readyPods(world.physical('east'), 'other')).length === 2);
  await scale(3);
  await comesTo(2, 1);
  await world.admin.delete(deployments, { ...shop, name: 'other' });
  await comesTo(3, 0);
});

test('what the annotation says must be true or false', async () => {
  const wrong = { metadata: { annotations: { 'atoll.dev/overflow': 'yes' } } };
  await expect(world.admin.patch(deployments, web, 'merge', wrong)).rejects.toThrow(
    'must be "true" or "false"',
  );
});
