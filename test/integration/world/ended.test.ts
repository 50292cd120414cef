import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placement } from '../../../cluster/types.ts';
import { textAt } from '../../../kube/untyped.ts';
import type { Behaviour } from '../../../sim/pods/behaviour.ts';
import { deployment, find, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const namespace = 'default';
const { jobs, pods } = resources;
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };

let world: World;
beforeAll(async () => {
  world = await startWorld({ behaviours: [slow] });
});
afterAll(() => world.stop());

test('a Job that has ended stays with its pods when its Namespace moves, and goes when its cluster is drained', async () => {
  const moveTo = (clusters: string) =>
    world.admin.patch(resources.namespaces, { name: namespace }, 'merge', {
      metadata: { annotations: { 'atoll.dev/clusters': clusters } },
    });
  await moveTo('east');
  await world.admin.create(resources.deployments, deployment('web', 1), { namespace });
  const spec = { template };
  await world.admin.create(
    jobs,
    { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once', namespace }, spec },
    { namespace },
  );
  const podOf = async () => {
    const { items } = await world.admin.list(pods, { namespace, labelSelector: 'job-name=once' });
    return items.map(({ metadata, status }) => `${metadata.name} ${textAt(status, 'phase')}`);
  };
  await until('it has completed', async () => {
    const job = await find(world.admin, jobs, 'once', namespace);
    return textAt(job, 'status', 'completionTime') !== undefined;
  });
  // Pods are told of beside that.
  const before = await until('its pod is shown as it ended', async () => {
    const all = await podOf();
    return all.every((one) => / Succeeded$/.test(one)) && all.length === 1 ? all : undefined;
  });
  await moveTo('west');
  await until('all else has moved', async () => {
    const [west, east] = [
      await readyPods(world.physical('west'), 'web'),
      await readyPods(world.physical('east'), 'web'),
    ];
    return west.length === 1 && east.length === 0;
  });
  expect(await podOf()).toEqual(before);
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', {
    spec: { drain: true, unschedulable: true },
  });
  await until('it goes, and is not made again', async () => (await podOf()).length === 0);
  expect(await find(world.admin, jobs, 'once', namespace)).toMatchObject({ status: { succeeded: 1 } });
});

/** Counted on where it runs before it ends. */
const slow: Behaviour = {
  name: 'slow',
  match: { owner: 'Job', labels: { runs: 'a-while' } },
  scheduledAfterMs: [20, 60],
  readyAfterMs: [100, 300],
  succeedsAfterMs: [3000, 3000],
  stopsAfterMs: [20, 60],
};
const labels = { runs: 'a-while' };

async function inside(name: string, clusters?: string): Promise<{ namespace: string }> {
  const annotations = clusters === undefined ? {} : { 'atoll.dev/clusters': clusters };
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } };
  await world.admin.create(resources.namespaces, object);
  return { namespace: name };
}

async function run(at: { namespace: string }): Promise<void> {
  const spec = { template: { ...template, metadata: { labels } } };
  const metadata = { name: 'once', ...at };
  await world.admin.create(jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata, spec }, at);
  await settled(world.admin, 'once.jobs.batch', at.namespace);
}

const completed = ({ namespace }: { namespace: string }) =>
  until('it has completed', async () => {
    const job = await find(world.admin, jobs, 'once', namespace);
    return textAt(job, 'status', 'completionTime') !== undefined;
  });

const drain = (name: string, is: boolean) =>
  world.admin.patch(resources.physicalclusters, { name }, 'merge', {
    spec: { drain: is, unschedulable: is },
  });

test('a Job that has ended leaves its room to the workloads of other Namespaces', async () => {
  const taken = (await readyPods(world.physical('west'), 'web')).length;
  const capacity = (most: string | null) =>
    world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', {
      spec: { capacity: { pods: most } },
    });
  await capacity(String(taken + 1));
  const ran = await inside('ran', 'west');
  await run(ran);
  await completed(ran);
  const after = await inside('after', 'west');
  const next = deployment('next', 1);
  const object = { ...next, metadata: { ...next.metadata, ...after } };
  await world.admin.create(resources.deployments, object, after);
  await until('the next has its room', async () => {
    return (await readyPods(world.physical('west'), 'next')).length === 1;
  });
  await capacity(null);
});

test('a Job that ended where a drain was taken back goes with the next drain', async () => {
  await drain('east', false);
  await drain('west', true);
  const free = await inside('free');
  await run(free);
  await drain('west', false);
  await drain('east', true);
  await until('it is bound for elsewhere', async () => {
    const placement = await find<Placement>(world.admin, resources.placements, 'once.jobs.batch', 'free');
    return placement?.spec?.clusters.join() === 'west';
  });
  await drain('east', false);
  await completed(free);
  const there = async () => (await world.admin.list(pods, free)).items.length;
  expect(await there()).toBe(1);
  await drain('east', true);
  await until('it goes', async () => (await there()) === 0);
});
