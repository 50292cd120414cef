import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, readyPods, resources, settled, statefulSet, until } from '../../world/objects.ts';
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

test('a pod of a workload with a finalizer here stops on the cluster, and is here until that is taken away', async () => {
  const [name = ''] = await runs(deployment('web', 1, 'east'));
  const { pods } = resources;
  const at = { namespace: 'default', name };
  await until('it is shown', () => find(world.admin, pods, name));
  await world.admin.patch(pods, at, 'merge', { metadata: { finalizers: ['example.com/counts'] } });
  await world.admin.delete(pods, at);
  await until('another runs', async () => (await running('web')).every((one) => one !== name));
  const held = await until('it has stopped', async () => {
    const shown = await find(world.admin, pods, name);
    return shown?.metadata.deletionGracePeriodSeconds === 0 ? shown : undefined;
  });
  expect(held.metadata).toMatchObject({
    finalizers: ['example.com/counts'],
    deletionTimestamp: expect.any(String),
  });
  expect(await find(world.admin, resources.placements, `${name}.pods`)).toBeUndefined();
  await world.admin.patch(pods, at, 'merge', { metadata: { finalizers: null } });
  expect(await find(world.admin, pods, name)).toBeUndefined();
});

test('a ControllerRevision is deleted on the cluster', async () => {
  const controllerrevisions = { group: 'apps', version: 'v1', resource: 'controllerrevisions' };
  const set = statefulSet('db', 1);
  await world.admin.create(resources.statefulsets, set);
  await settled(world.admin, 'db.statefulsets.apps');
  const { client: physical } = world.physical('east');
  const { items } = await physical.list(resources.statefulsets);
  const there = items.find(({ metadata }) => metadata.name === 'db') as KubeObject<{ template: object }>;
  const { namespace = '', uid = '' } = there.metadata;
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true }];
  const revision = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'db-5d', ownerReferences },
    data: { spec: { template: { ...there.spec?.template, $patch: 'replace' } } },
    revision: 1,
  };
  await physical.create(controllerrevisions, revision, { namespace });
  await until('it is shown', () => find(world.admin, controllerrevisions, 'db-5d'));
  await world.admin.delete(controllerrevisions, { namespace: 'default', name: 'db-5d' });
  expect(await find(physical, controllerrevisions, 'db-5d', namespace)).toBeUndefined();
  await until('it is gone', async () => !(await find(world.admin, controllerrevisions, 'db-5d')));
});
