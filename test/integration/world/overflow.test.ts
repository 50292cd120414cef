import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { runAutoscaler } from '../../world/autoscaler.ts';
import { deployment, find, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, placements, physicalclusters, horizontalpodautoscalers } = resources;
const shop = { namespace: 'default' };
const web = { ...shop, name: 'web' };

let world: World;
beforeAll(async () => {
  world = await startWorld();
  for (const name of ['east', 'west']) await room(name, 4);
});
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
  const home = await readyPods(world.physical('east'), 'web');
  await scale(5);
  await comesTo(4, 1);
  // What overflowed goes first: none at home is made anew.
  expect(await readyPods(world.physical('east'), 'web')).toEqual(home);
  await scale(3);
  expect(await comesTo(3, 0)).toBeGreaterThanOrEqual(3);
});

test('what has room nowhere is told, in a condition and in an Event, until there is room', async () => {
  const placedWord = async () =>
    (
      await find<Placement>(world.admin, placements, 'web.deployments.apps', 'default')
    )?.status?.conditions?.find(({ type }) => type === 'Placed');
  const said = async (reason: string) => {
    const { items } = await world.admin.list<KubeObject>(resources.events, shop);
    return items.filter((event) => event['reason'] === reason).map((event) => event['message']);
  };
  const lacking = expect.stringMatching(
    /^2 of its 10 pods have room nowhere and are on (east|west) all the same; make room .* or have 2 replicas fewer/,
  );
  await scale(10);
  const told = await until('the condition says so', async () => {
    const word = await placedWord();
    return word?.reason === 'NoRoom' ? word : undefined;
  });
  expect(told).toMatchObject({
    status: 'False',
    message: expect.stringMatching(/^placed on east, west; 2 of its 10 pods have room nowhere/),
  });
  await until('an Event says so on the object', async () => (await said('NoRoom')).length > 0);
  expect(await said('NoRoom')).toEqual([lacking]);
  await room('west', 9);
  await until('the condition says it no longer', async () => (await placedWord())?.status === 'True');
  await until('and another Event that it is placed', async () =>
    (await said('Placed')).some((message) => /west: it takes 6 pods/.test(String(message))),
  );
  expect(await said('NoRoom')).toEqual([lacking]);
  await room('west', 4);
  await scale(3);
  await comesTo(3, 0);
});

test('what is short where a cluster takes nothing new is not said to be placed', async () => {
  const record = () => find<Placement>(world.admin, placements, 'web.deployments.apps', 'default');
  const placed = async () => (await record())?.status?.conditions?.find(({ type }) => type === 'Placed');
  const cordon = (unschedulable: boolean) =>
    world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', { spec: { unschedulable } });
  await scale(6);
  await comesTo(4, 2);
  await cordon(true);
  await scale(10);
  await until('the condition says so', async () => (await placed())?.reason === 'Blocked');
  expect(await placed()).toMatchObject({
    status: 'False',
    message: expect.stringMatching(/; \d of its 10 pods have room nowhere; .*west: .*it is cordoned/),
  });
  expect((await record())?.spec?.unplaced).toMatchObject({ of: 10 });
  await cordon(false);
  await scale(3);
  await until('all of it is placed', async () => (await placed())?.status === 'True');
  expect((await record())?.spec?.unplaced).toBeUndefined();
  await comesTo(3, 0);
});

test('others that ask for more push none of it out, and it comes home though the most of it was elsewhere', async () => {
  await room('east', 6);
  await world.admin.create(deployments, deployment('greedy', 2, 'east'), shop);
  const greedy = async () => (await readyPods(world.physical('east'), 'greedy')).length;
  await until('they run as well', async () => (await greedy()) === 2);
  await world.admin.patch(deployments, { ...shop, name: 'greedy' }, 'merge', { spec: { replicas: 20 } });
  await until('they are more than there is room for', async () => (await greedy()) === 20);
  await scale(4);
  expect(await comesTo(3, 1)).toBeGreaterThanOrEqual(3);
  await world.admin.delete(deployments, { ...shop, name: 'greedy' });
  expect(await comesTo(4, 0)).toBeGreaterThanOrEqual(4);
  await room('west', 50);
  await scale(13);
  await comesTo(6, 7);
  await scale(3);
  await comesTo(3, 0);
  for (const name of ['east', 'west']) await room(name, 4);
});

test('under an autoscaler a third cluster comes when two are full', async () => {
  let asked = 2;
  const third = await startWorld({ clusters: ['east', 'north', 'west'] });
  const names = ['east', 'north', 'west'];
  const scalers = names.map((name) => runAutoscaler(third.physical(name).client, () => asked));
  const all = async () => {
    const found = await Promise.all(names.map((name) => readyPods(third.physical(name), 'web')));
    return found.map((pods) => pods.length);
  };
  try {
    for (const name of names)
      await third.admin.patch(physicalclusters, { name }, 'merge', { spec: { capacity: { pods: '4' } } });
    const made = deployment('web', 2);
    const annotations = { 'atoll.dev/overflow': 'true' };
    await third.admin.create(deployments, { ...made, metadata: { ...made.metadata, annotations } }, shop);
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const spec = { minReplicas: 2, maxReplicas: 20, scaleTargetRef };
    const scaler = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: web, spec };
    await third.admin.create(horizontalpodautoscalers, scaler, shop);
    await until('it runs', async () => (await all()).reduce((a, b) => a + b) === 2);
    asked = 4;
    await until('one is full', async () => Math.max(...(await all())) === 4);
    asked = 20;
    await until('all are full', async () => (await all()).every((n) => n >= 4));
  } finally {
    await Promise.all(scalers.map((scaler) => scaler.stop()));
    await third.stop();
  }
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
