import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { deployment, find, move, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, placements, placementpolicies } = resources;
const shop = { namespace: 'default' };
const clusters = ['east', 'north', 'west'];

let world: World;
beforeAll(async () => {
  world = await startWorld({ clusters });
});
afterAll(() => world.stop());

const make = (name: string, where?: string) => {
  const made = deployment(name, 2, where);
  return world.admin.create(
    deployments,
    { ...made, metadata: { ...made.metadata, labels: { app: name } } },
    shop,
  );
};
const say = (name: string, said: object) =>
  world.admin.create(
    placementpolicies,
    {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PlacementPolicy',
      metadata: { name },
      spec: { selector: { names: [name] }, clusters: said },
    },
    shop,
  );
const app = (name: string) => ({ labelSelector: { matchLabels: { app: name } } });
const record = (name: string) =>
  find<Placement>(world.admin, placements, `${name}.deployments.apps`, 'default');

/** Until all of it runs there and nowhere else; the fewest that were ready before. */
async function comesTo(name: string, cluster: string): Promise<number> {
  let fewest = Infinity;
  await until(`${name} is in ${cluster} alone`, async () => {
    const ready = await Promise.all(clusters.map((c) => readyPods(world.physical(c), name)));
    fewest = Math.min(fewest, ready.flat().length);
    const shares = Object.keys((await record(name))?.spec?.shares ?? {});
    return shares.join() === cluster && ready[clusters.indexOf(cluster)]?.length === 2;
  });
  return fewest;
}

test('what is beside another follows it through a move, and what is apart makes room, without a dip', async () => {
  await say('web', { affinity: [app('db')] });
  await make('web');
  const waits = await until('it waits for whom it is beside', async () => {
    const found = await record('web');
    return found?.status?.conditions !== undefined ? found : undefined;
  });
  expect(waits?.spec).toMatchObject({
    clusters: [],
    blocked: true,
    reasons: { east: 'PlacementPolicy web wants it beside app=db, which is on no cluster' },
  });
  await make('db', 'north');
  await Promise.all([comesTo('web', 'north'), comesTo('db', 'north')]);
  await move(world.admin, deployments, 'db', 'east');
  expect(await Promise.all([comesTo('web', 'east'), comesTo('db', 'east')])).toEqual([2, 2]);
  await make('noisy', 'east');
  await comesTo('noisy', 'east');
  // As long as its own annotation names the cluster no policy of it counts.
  await say('db', { exclude: ['west'], antiAffinity: [app('noisy')] });
  const where = { metadata: { annotations: { 'atoll.dev/clusters': null } } };
  await world.admin.patch(deployments, { ...shop, name: 'db' }, 'merge', where);
  expect(await Promise.all([comesTo('db', 'north'), comesTo('web', 'north')])).toEqual([2, 2]);
  await comesTo('noisy', 'east');
  expect((await record('db'))?.spec?.reasons).toMatchObject({
    east: 'PlacementPolicy db keeps it apart from app=noisy, which is there',
  });
});
