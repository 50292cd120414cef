import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, readyPods, resources, statefulSet, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, physicalclusters, placements, placementpolicies, statefulsets } = resources;
/** eu has one, us two; moon is none of both. */
const regions = { east: 'us', moon: undefined, north: 'eu', west: 'us' } as const;
const shop = { namespace: 'default' };

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters: Object.keys(regions) });
  for (const [name, region] of Object.entries(regions))
    if (region)
      await world.admin.patch(physicalclusters, { name }, 'merge', {
        metadata: { labels: { 'topology.kubernetes.io/region': region } },
      });
});
afterAll(() => world.stop());

const spread = (made: KubeObject, how: string): KubeObject => ({
  ...made,
  metadata: { ...made.metadata, annotations: { 'atoll.dev/spread': how } },
});
/** The scheduler may not have come by yet. */
const record = (name: string) => find<Placement>(world.admin, placements, name, shop.namespace);
const countOf = async (app: string) => {
  const all = Object.keys(regions).map(
    async (c) => [c, (await readyPods(world.physical(c), app)).length] as const,
  );
  return Object.fromEntries((await Promise.all(all)).filter(([, n]) => n > 0));
};

/** Until its ready pods are there, and nothing is under way; how few there were before. */
async function comesTo(name: string, app: string, expected: Record<string, number>): Promise<number> {
  let fewest = Infinity;
  await until(`${app} is ${JSON.stringify(expected)}`, async () => {
    const found = await countOf(app);
    fewest = Math.min(
      fewest,
      Object.values(found).reduce((sum, n) => sum + n, 0),
    );
    const { conditions = [] } = (await record(name))?.status ?? {};
    const isSettled = conditions.some(({ type, status }) => type === 'Settled' && status === 'True');
    return isSettled && JSON.stringify(found) === JSON.stringify(expected);
  });
  return fewest;
}
const placedWord = async (name: string) =>
  (await record(name))?.status?.conditions?.find(({ type }) => type === 'Placed');

test('so many replicas in each region; a region that is excluded, and taken back, and no replica is missed', async () => {
  const name = 'web.deployments.apps';
  await world.admin.create(deployments, spread(deployment('web', 5), 'region us=3,eu=2'), shop);
  await comesTo(name, 'web', { east: 3, north: 2 });
  const made = await record(name);
  expect(made?.spec).toMatchObject({
    clusters: ['east', 'north'],
    spread: { topologyKey: 'region', replicas: { us: 3, eu: 2 }, values: { east: 'us', north: 'eu' } },
    reasons: {
      east: 'by its annotation: region us',
      north: 'by its annotation: region eu',
      moon: 'it has no label region, which its annotation spreads over',
    },
  });

  const policy = (exclude: string[]) => ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'not-there' },
    spec: { selector: { names: ['web'] }, clusters: { exclude } },
  });
  await world.admin.create(placementpolicies, policy(['north']), shop);
  expect(await comesTo(name, 'web', { east: 5 })).toBeGreaterThanOrEqual(5);
  expect(await placedWord(name)).toMatchObject({
    status: 'False',
    reason: 'SpreadUnsatisfied',
    message: 'placed on east; no cluster of region eu takes it: its replicas are in us until one does',
  });
  const said = await until('an Event says so on the object', async () => {
    const { items } = await world.admin.list<KubeObject>(resources.events, shop);
    return items.find((event) => event['reason'] === 'SpreadUnsatisfied');
  });
  expect(said).toMatchObject({
    type: 'Warning',
    message: 'no cluster of region eu takes it: its replicas are in us until one does',
    involvedObject: { kind: 'Deployment', name: 'web' },
  });
  await world.admin.delete(placementpolicies, { ...shop, name: 'not-there' });
  expect(await comesTo(name, 'web', { east: 3, north: 2 })).toBeGreaterThanOrEqual(5);
  expect(await placedWord(name)).toMatchObject({ status: 'True', message: 'placed on east, north' });

  await world.admin.patch(deployments, { ...shop, name: 'web' }, 'merge', { spec: { replicas: 10 } });
  await comesTo(name, 'web', { east: 6, north: 4 });
  expect(await placedWord(name)).toMatchObject({
    status: 'True',
    message:
      'placed on east, north; region eu=2,us=3 is of 5 replicas, and it has 10: they are divided in that proportion',
  });
});

test('a drain leaves a region for another cluster of it, and then for the others', async () => {
  const name = 'api.deployments.apps';
  const drain = (cluster: string, is: boolean) =>
    world.admin.patch(physicalclusters, { name: cluster }, 'merge', {
      spec: { drain: is, unschedulable: is },
    });
  await world.admin.create(deployments, spread(deployment('api', 4), 'region us=2,eu=2'), shop);
  await comesTo(name, 'api', { east: 2, north: 2 });
  await drain('east', true);
  expect(await comesTo(name, 'api', { north: 2, west: 2 })).toBeGreaterThanOrEqual(4);
  await drain('north', true);
  expect(await comesTo(name, 'api', { west: 4 })).toBeGreaterThanOrEqual(4);
  await drain('east', false);
  await drain('north', false);
  expect(await comesTo(name, 'api', { north: 2, west: 2 })).toBeGreaterThanOrEqual(4);
});

test('a policy spreads evenly over as many regions as there are replicas', async () => {
  const policy = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacementPolicy',
    metadata: { name: 'even' },
    spec: {
      selector: { names: ['even'] },
      clusters: { spread: { topologyKey: 'region', maxSkew: 1 }, count: 3 },
    },
  };
  await world.admin.create(placementpolicies, policy, shop);
  await world.admin.create(deployments, deployment('even', 4), shop);
  await comesTo('even.deployments.apps', 'even', { east: 1, north: 2, west: 1 });
});

test('ordinals are laid out by region', async () => {
  const name = 'db.statefulsets.apps';
  const db = statefulSet('db', 3, '!west');
  db.metadata.annotations = { ...db.metadata.annotations, 'atoll.dev/spread': 'region us=1,eu=2' };
  await world.admin.create(statefulsets, db, shop);
  await comesTo(name, 'db', { east: 1, north: 2 });
  await world.admin.patch(statefulsets, { ...shop, name: 'db' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/spread': 'region us=2,eu=1' } },
  });
  await comesTo(name, 'db', { east: 2, north: 1 });
  expect([...(await readyPods(world.physical('east'), 'db'))].sort()).toEqual(['db-0', 'db-1']);
});

test('an annotation that says nothing is refused', async () => {
  for (const [value, message] of [
    ['us=3,eu=2', 'must be a label key of physical clusters, or region, zone or cluster'],
    ['region us=0', 'us: must be between 1 and 1000000, inclusive'],
    ['region us=1,us=2', 'us is there twice'],
    ['region us', 'must be a label key of physical clusters, or region, zone or cluster'],
  ] as const)
    await expect(world.admin.create(deployments, spread(deployment('odd', 1), value), shop)).rejects.toThrow(
      `metadata.annotations[atoll.dev/spread]: Invalid value: ${JSON.stringify(value)}: ${message}`.slice(
        0,
        90,
      ),
    );
});
