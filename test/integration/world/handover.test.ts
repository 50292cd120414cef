import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { deployment, find, move, readyPods, resources, settled, until } from '../../world/objects.ts';
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
