import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { deepEqual } from '../../../kube/deep.ts';
import { StatusError } from '../../../kube/status.ts';
import { at, numberAt } from '../../../kube/untyped.ts';
import { isScaled } from '../../../syncer/scaled.ts';
import { type Autoscaler, runAutoscaler } from '../../world/autoscaler.ts';
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
/** By physical cluster: what the metrics there would ask for. */
let load: Record<string, number | (() => Promise<number>)>;
let autoscalers: Autoscaler[];

beforeEach(async () => {
  world = await startWorld();
  load = { east: 2, west: 2 };
  autoscalers = ['east', 'west'].map((name) =>
    runAutoscaler(world.physical(name).client, () => {
      const asks = load[name] ?? 0;
      return typeof asks === 'number' ? asks : asks();
    }),
  );
});
afterEach(async () => {
  await Promise.all(autoscalers.map((a) => a.stop()));
  await world.stop();
});

const autoscaler = (minReplicas: number, maxReplicas: number, kind = 'Deployment') => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    minReplicas,
    maxReplicas,
    scaleTargetRef: { apiVersion: 'apps/v1', kind, name: 'web' },
  },
});
const placement = 'web.deployments.apps';
const root = async () => await find(world.admin, resources.deployments, 'web');
const placed = async () => (await find<Placement>(world.admin, resources.placements, placement))?.spec;
const wanted = async () => numberAt(await root(), 'spec', 'replicas');
const pods = async (name: string) => (await readyPods(world.physical(name), 'web')).length;
const runs = (name: string, count: number) =>
  until(`${name} runs ${count}`, async () => (await pods(name)) === count);
const says = (count: number) => until(`the root says ${count}`, async () => (await wanted()) === count);

async function there(name: string) {
  const { items } = await world.physical(name).client.list(resources.deployments);
  return items.find((d) => d.metadata.name === 'web');
}

async function start(replicas: number, on: string): Promise<void> {
  const inDefault = { namespace: 'default' };
  await world.admin.create(resources.deployments, deployment('web', replicas, on), inDefault);
  await world.admin.create(resources.horizontalpodautoscalers, autoscaler(2, 10), inDefault);
  await settled(world.admin, placement);
  await until('its replicas are its autoscaler’s', async () => {
    const found = await there(on.split(',')[0] ?? '');
    return found && isScaled(found);
  });
}

test('what an autoscaler of the physical cluster sets stays, and the root tells it: 2, 8, 2', async () => {
  await start(2, 'east');
  const { generation = 0 } = (await there('east'))?.metadata ?? {};
  load = { east: 8 };
  await runs('east', 8);
  await says(8);
  await until('its status', async () => numberAt(await root(), 'status', 'readyReplicas') === 8);
  load = { east: 2 };
  await runs('east', 2);
  await says(2);
  // Nobody has written the physical spec but the autoscaler, twice.
  expect((await there('east'))?.metadata.generation).toBe(generation + 2);
  const fields = (await root())?.metadata.managedFields ?? [];
  const owners = fields.filter(({ fieldsV1 }) => at(fieldsV1, 'f:spec', 'f:replicas') !== undefined);
  expect(owners.map(({ manager }) => manager)).toEqual(['atoll-splitter']);
});

test('a move begins with what is there, though nothing is asked of the new pods before', async () => {
  await start(2, 'east');
  load = { east: 7, west: async () => ((await there('east')) ? 1 : 7) };
  await runs('east', 7);
  await says(7);
  await move(world.admin, resources.deployments, 'web', 'west');
  let least = Number.POSITIVE_INFINITY;
  await until('it has left east', async () => {
    const [east, west] = [await pods('east'), await pods('west')];
    least = Math.min(least, east + west);
    return (await there('east')) === undefined;
  });
  expect(least).toBeGreaterThanOrEqual(7);
  await settled(world.admin, placement);
  expect(await pods('west')).toBe(7);
  load = { west: 1 };
  await runs('west', 2);
  await says(2);
});

test('a StatefulSet arrives with as many as it had, each pod once, though its autoscaler would have back what it gives up', async () => {
  load = { east: 3, west: 3 };
  const inDefault = { namespace: 'default' };
  await world.admin.create(resources.statefulsets, statefulSet('web', 3, 'east'), inDefault);
  await world.admin.create(resources.horizontalpodautoscalers, autoscaler(1, 10, 'StatefulSet'), inDefault);
  await settled(world.admin, 'web.statefulsets.apps');
  await runs('east', 3);
  await move(world.admin, resources.statefulsets, 'web', 'west');
  const names = (cluster: string) => readyPods(world.physical(cluster), 'web');
  const seen = new Set<string>();
  await until('all of it is on west', async () => {
    const [west, east] = [await names('west'), await names('east')];
    for (const name of [...west, ...east]) seen.add(name);
    // What is read of east last has left since, or runs there alone.
    expect(west.filter((name) => east.includes(name))).toEqual([]);
    return west.length === 3 && east.length === 0;
  });
  expect([...seen].sort(), 'none that never was').toEqual(['web-0', 'web-1', 'web-2']);
  await settled(world.admin, 'web.statefulsets.apps');
  expect(await pods('west')).toBe(3);
  load = { west: 5 };
  await runs('west', 5);
});

test('a StatefulSet whose autoscaler has little to do is one short at most while it moves', async () => {
  load = { east: 0, west: 0 };
  const inDefault = { namespace: 'default' };
  await world.admin.create(resources.statefulsets, statefulSet('web', 3, 'east'), inDefault);
  await world.admin.create(resources.horizontalpodautoscalers, autoscaler(3, 10, 'StatefulSet'), inDefault);
  await settled(world.admin, 'web.statefulsets.apps');
  await runs('east', 3);
  await until('its replicas are its autoscaler’s', async () => {
    const { items } = await world.physical('east').client.list(resources.statefulsets);
    return items.some(isScaled);
  });
  await move(world.admin, resources.statefulsets, 'web', 'west');
  const seen: string[] = [];
  await until('all of it is on west', async () => {
    // What has started on west between the two reads is one more, and none is one fewer.
    const [east, west] = [await pods('east'), await pods('west')];
    seen.push(`${east}+${west}`);
    expect(east + west, seen.join(' ')).toBeGreaterThanOrEqual(2);
    return west === 3 && east === 0;
  });
});

test('a StatefulSet whose autoscaler takes no other bounds stays, says so, and moves when they are taken', async () => {
  load = { east: 3, west: 3 };
  const inDefault = { namespace: 'default' };
  await world.admin.create(resources.statefulsets, statefulSet('web', 3, 'east'), inDefault);
  await world.admin.create(resources.horizontalpodautoscalers, autoscaler(3, 10, 'StatefulSet'), inDefault);
  await settled(world.admin, 'web.statefulsets.apps');
  await runs('east', 3);
  const { faults } = world.physical('east');
  faults.intercept = ({ method, url }) => {
    if (method !== 'GET' && url.includes('/horizontalpodautoscalers/'))
      throw new StatusError(403, 'Forbidden', 'admission webhook "bounds" denied the request');
  };
  await move(world.admin, resources.statefulsets, 'web', 'west');
  await until('it says why it stays', async () => {
    const found = await find<Placement>(world.admin, resources.placements, 'web.statefulsets.apps');
    return found?.status?.conditions?.some(({ message = '' }) =>
      message.includes('takes no other bounds there'),
    );
  });
  expect([await pods('east'), await pods('west')]).toEqual([3, 0]);
  faults.intercept = () => undefined;
  await runs('west', 3);
  await settled(world.admin, 'web.statefulsets.apps');
});

test('a move that is taken back, and once more, leaves as many as there were', async () => {
  load = Object.fromEntries(
    ['east', 'west'].map((name) => [name, async () => numberAt(await there(name), 'spec', 'replicas') ?? 0]),
  );
  await start(3, 'east,west');
  await says(3);
  for (let round = 0; round < 2; round++) {
    world.physical('west').faults.silence();
    await move(world.admin, resources.deployments, 'web', 'west');
    await until('west is to have all', async () => {
      const spec = await placed();
      return spec?.shares?.['west']?.replicas === 3;
    });
    await move(world.admin, resources.deployments, 'web', 'east,west');
    await until('it is to be on both again', async () => {
      const spec = await placed();
      return deepEqual(spec?.clusters, ['east', 'west']);
    });
    world.physical('west').faults.heal();
    await settled(world.admin, placement);
    await until('both are counted on', async () => {
      const spec = await placed();
      return deepEqual(spec?.scale?.clusters, ['east', 'west']);
    });
    expect(await wanted()).toBe(3);
    expect((await pods('east')) + (await pods('west'))).toBe(3);
  }
});

test('a template changed by the user reaches it with the replicas that are there', async () => {
  await start(2, 'east');
  load = { east: 6 };
  await says(6);
  autoscalers[0]?.pause();
  const containers = [{ name: 'c', image: 'web:2' }];
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'web' }, 'strategic', {
    spec: { template: { spec: { containers } } },
  });
  await until('the new image', async () => JSON.stringify(await there('east')).includes('web:2"'));
  expect((await there('east'))?.spec).toMatchObject({ replicas: 6 });
  expect(await wanted()).toBe(6);
});

test('somebody’s own scale is carried out once, and then the autoscaler goes on', async () => {
  await start(2, 'east');
  load = { east: 4 };
  await says(4);
  autoscalers[0]?.pause();
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 9 } };
  const metadata = { namespace: 'default', name: 'web' };
  await world.admin.update(resources.deployments, { ...scale, metadata }, { subresource: 'scale' });
  await runs('east', 9);
  autoscalers[0]?.resume();
  await runs('east', 4);
  await says(4);
});

test('two clusters scale apart, within the bounds of one', async () => {
  await start(4, 'east,west');
  load = { east: 9, west: 1 };
  await until('east has what is left of the maximum', async () => (await pods('east')) >= 8);
  const most = (await pods('east')) + (await pods('west'));
  expect(most).toBeLessThanOrEqual(10);
  load = { east: 0, west: 0 };
  await runs('east', 1);
  await runs('west', 1);
  await says(2);
});

test('without its autoscaler a workload keeps its replicas, and they are repaired again', async () => {
  await start(2, 'east');
  load = { east: 5 };
  await says(5);
  await world.admin.delete(resources.horizontalpodautoscalers, { namespace: 'default', name: 'web' });
  await until('the mark is gone', async () => {
    const found = await there('east');
    return found && !isScaled(found);
  });
  expect((await there('east'))?.spec).toMatchObject({ replicas: 5 });
  const { namespace = '' } = (await there('east'))?.metadata ?? {};
  await world
    .physical('east')
    .client.patch(resources.deployments, { namespace, name: 'web' }, 'merge', { spec: { replicas: 1 } });
  await runs('east', 5);
  expect(await wanted()).toBe(5);
});
