import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { at, listAt } from '../../../kube/untyped.ts';
import { deployment, resources, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const inDefault = { namespace: 'default' };
const quota = (hard: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'few' },
  spec: { hard },
});

/** How many pods of an app there are, on each cluster. */
async function running(app: string): Promise<number[]> {
  const counts = ['east', 'west'].map(async (cluster) => {
    const { items } = await world
      .physical(cluster)
      .client.list(resources.pods, { labelSelector: `app=${app}` });
    return items.length;
  });
  return await Promise.all(counts);
}

/** More of its pods were asked for than a quota lets: five that run pass two, and never this. */
async function isHeld(name: string): Promise<boolean> {
  const { status } = await world.admin.get(resources.deployments, { ...inDefault, name });
  return listAt(status, 'conditions').some((c) => at(c, 'type') === 'ReplicaFailure');
}

const sum = (counts: readonly number[]) => counts.reduce((all, n) => all + n, 0);

test('a Deployment runs as many pods over all clusters as its quota lets, and the rest when it may', async () => {
  await world.admin.create(resources.resourcequotas, quota({ pods: '2', configmaps: '9' }), inDefault);
  await world.admin.create(resources.deployments, deployment('wide', 5, 'east,west'), inDefault);
  await until('no more are made', () => isHeld('wide'));
  expect(sum(await running('wide'))).toBe(2);
  const read = () => world.admin.get(resources.resourcequotas, { ...inDefault, name: 'few' });
  await until('they are counted', async () => at((await read()).status, 'used', 'pods') === '2');
  const more = { spec: { hard: { pods: '5' } } };
  await world.admin.patch(resources.resourcequotas, { ...inDefault, name: 'few' }, 'merge', more);
  await until('all run', async () => sum(await running('wide')) === 5);
  await world.admin.delete(resources.resourcequotas, { ...inDefault, name: 'few' });
  const there = async () => {
    const lists = ['east', 'west'].map((c) => world.physical(c).client.list(resources.resourcequotas, {}));
    return (await Promise.all(lists)).flatMap(({ items }) => items).length;
  };
  await until('no cluster has it', async () => (await there()) === 0);
  await world.admin.delete(resources.deployments, { ...inDefault, name: 'wide' });
  await until('nothing runs', async () => sum(await running('wide')) === 0);
});

test('what moves and fits has room to run twice while it moves', async () => {
  const name = 'moved';
  await world.admin.create(resources.resourcequotas, quota({ pods: '2' }), inDefault);
  await world.admin.create(resources.deployments, deployment(name, 2, 'east'), inDefault);
  await until('it runs in the east', async () => (await running(name))[0] === 2);
  const clusters = { metadata: { annotations: { 'atoll.dev/clusters': 'west' } } };
  await world.admin.patch(resources.deployments, { ...inDefault, name }, 'merge', clusters);
  await until('it runs in the west', async () => (await running(name)).join() === '0,2');
});

test('what asks for processors by a LimitRange alone has room to run twice, too', async () => {
  const name = 'ranged';
  const limits = [{ type: 'Container', defaultRequest: { cpu: '500m' } }];
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name }, spec: { limits } };
  const namespaced = { namespace: name };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await world.admin.create(resources.namespaces, namespace, {});
  await world.admin.create(resources.limitranges, range, namespaced);
  await world.admin.create(resources.resourcequotas, quota({ 'requests.cpu': '1' }), namespaced);
  const app = deployment(name, 2, 'east');
  await world.admin.create(
    resources.deployments,
    { ...app, metadata: { ...app.metadata, namespace: name } },
    namespaced,
  );
  await until('it runs in the east', async () => (await running(name))[0] === 2);
  const clusters = { metadata: { annotations: { 'atoll.dev/clusters': 'west' } } };
  await world.admin.patch(resources.deployments, { ...namespaced, name }, 'merge', clusters);
  await until('it runs in the west', async () => (await running(name)).join() === '0,2');
});
