import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { deployment, find, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const web = 'web.deployments.apps';

/** From now on: what was written of the Deployment on this cluster, and how often its syncer told of it. */
function countFor(cluster: 'east' | 'west'): { applied(): string[]; slices(): number } {
  const { faults, upstream } = world.physical(cluster);
  const [there, here] = [faults.requests.length, upstream.requests.length];
  return {
    applied: () =>
      faults.requests
        .slice(there)
        .filter((one) => !one.startsWith('GET ') && /\/deployments\/web(\?|$)/.test(one))
        .map((one) => one.split(' ')[0] ?? ''),
    slices: () => upstream.requests.slice(here).filter((one) => one.includes(`/shares/${web}/status`)).length,
  };
}

test('a Deployment that moves is applied once where it comes, and deleted once where it leaves', async () => {
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), { namespace: 'default' });
  await settled(world.admin, web);
  const [east, west] = [countFor('east'), countFor('west')];
  await move(world.admin, resources.deployments, 'web', 'west');
  await until('it has moved, and nothing is said of east', async () => {
    const { spec, status } = (await find<Placement>(world.admin, resources.placements, web)) ?? {};
    return [spec?.shares, status?.clusters].every((one) => Object.keys(one ?? {}).join() === 'west');
  });
  await settled(world.admin, web);
  expect(west.applied()).toEqual(['PATCH']);
  expect(east.applied()).toEqual(['DELETE']);
  // Once seen, then its pod's steps: of one that comes made and ready, of one that leaves stopping and gone.
  expect(west.slices()).toBeLessThanOrEqual(5);
  expect(east.slices()).toBeLessThanOrEqual(5);
});

test('the Placement of a new Deployment is made with its shares, which change no more but to be counted on', async () => {
  const { metadata } = await world.admin.list(resources.placements);
  const stop = new AbortController();
  const seen: string[] = [];
  const follow = async () => {
    const { resourceVersion } = metadata;
    for await (const { object } of world.admin.watch<Placement>(resources.placements, {
      resourceVersion,
      signal: stop.signal,
    })) {
      if (object.metadata.name !== web) continue;
      seen.push(
        Object.values(object.spec?.shares ?? {})
          .map(({ phase }) => phase)
          .join(),
      );
    }
  };
  const following = follow();
  await world.admin.create(resources.deployments, deployment('web', 1, 'east'), { namespace: 'default' });
  await settled(world.admin, web);
  await until('it is seen to be counted on', async () => seen.at(-1) === 'Active');
  stop.abort();
  await following.catch(() => undefined);
  expect(seen[0]).toBe('Joining');
});
