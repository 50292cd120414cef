import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ clusters: ['east'] });
});
afterEach(() => world.stop());

const running = (app: string) => readyPods(world.physical('east'), app);

async function runs(object: KubeObject): Promise<string[]> {
  const { name = '' } = object.metadata;
  await world.admin.create(resources.deployments, object);
  await settled(world.admin, `${name}.deployments.apps`);
  return await running(name);
}

test('the pods of a deleted workload run until the last finalizer is gone', async () => {
  const held = deployment('held', 2, 'east');
  const finalizers = ['example.com/needs-the-pods'];
  const pods = await runs({ ...held, metadata: { ...held.metadata, finalizers } });
  expect(pods).toHaveLength(2);
  await world.admin.delete(resources.deployments, { namespace: 'default', name: 'held' });
  // Whoever would take it away came by: what was deleted after it is gone, and what was made after it runs.
  await runs(deployment('short', 1, 'east'));
  await world.admin.delete(resources.deployments, { namespace: 'default', name: 'short' });
  await until('short is gone', async () => (await running('short')).length === 0);
  expect(await running('held')).toEqual(pods);
  expect(await find(world.admin, resources.deployments, 'held')).toBeDefined();
  const free = { metadata: { finalizers: [] } };
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'held' }, 'merge', free);
  await until('held is gone', async () => (await running('held')).length === 0);
});

test('pods that are deleted as a collection, and a ReplicaSet, are deleted on the cluster', async () => {
  const first = await runs(deployment('web', 2, 'east'));
  const shown = async () => {
    const { items } = await world.admin.list(resources.pods, {
      namespace: 'default',
      labelSelector: 'app=web',
    });
    return items.map(({ metadata }) => metadata.name ?? '').sort();
  };
  await until('they are shown', async () => (await shown()).join() === first.join());
  await world.admin.deleteCollection(resources.pods, { namespace: 'default', labelSelector: 'app=web' });
  const replaced = async (before: string[]) => {
    const now = await running('web');
    return now.length === 2 && !now.some((name) => before.includes(name)) ? now : undefined;
  };
  const second = await until('others run', () => replaced(first));
  const sets = await world.admin.list(resources.replicasets, {
    namespace: 'default',
    labelSelector: 'app=web',
  });
  const name = sets.items[0]?.metadata.name ?? '';
  await world.admin.delete(resources.replicasets, { namespace: 'default', name });
  const third = await until('others run again', () => replaced(second));
  await until('they are shown', async () => (await shown()).join() === third.join());
});
