import { afterAll, beforeAll, expect, test } from 'vitest';
import { textAt } from '../../../kube/untyped.ts';
import { deployment, find, readyPods, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const namespace = 'default';
const { jobs, pods } = resources;
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };

let world: World;
beforeAll(async () => {
  world = await startWorld();
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
  const before = await podOf();
  expect(before).toEqual([expect.stringMatching(/ Succeeded$/)]);
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
