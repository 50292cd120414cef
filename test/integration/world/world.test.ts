import { afterEach, beforeEach, expect, test } from 'vitest';
import { deployment, isReady, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const counts = async () => ({
  east: (await readyPods(world.physical('east'), 'web')).length,
  west: (await readyPods(world.physical('west'), 'web')).length,
});

test('a Deployment runs where it is placed and moves without a dip', async () => {
  await world.admin.create(resources.deployments, deployment('web', 3, 'east'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  expect(await counts()).toEqual({ east: 3, west: 0 });
  await move(world.admin, resources.deployments, 'web', 'west');
  let least = Number.POSITIVE_INFINITY;
  await until('all on west', async () => {
    const { east, west } = await counts();
    least = Math.min(least, east + west);
    return east === 0 && west === 3;
  });
  expect(least).toBeGreaterThanOrEqual(3);
});

test('a cluster that is silent is told apart, and goes on when it is heard of again', async () => {
  const ready = () => isReady(world.admin, 'east');
  world.physical('east').faults.silence();
  await until('east is not ready', async () => !(await ready()));
  world.physical('east').faults.heal();
  await until('east is ready again', ready);
});
