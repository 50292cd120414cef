import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, move, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const budgets = { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' };
const budget: KubeObject = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { minAvailable: 3, selector: { matchLabels: { app: 'web' } } },
};
let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

interface Budget
  extends KubeObject<
    { minAvailable?: number },
    { disruptionsAllowed?: number; observedGeneration?: number; desiredHealthy?: number }
  > {}

async function copyOn(cluster: string): Promise<Budget | undefined> {
  const { items } = await world.physical(cluster).client.list<Budget>(budgets, {});
  return items[0];
}

test('a PodDisruptionBudget of no pods says so, and again when it changes', async () => {
  const namespace = 'default';
  const seen = (generation: number, desiredHealthy: number) =>
    until(`generation ${generation} was seen`, async () => {
      const { status } = await world.admin.get<Budget>(budgets, { namespace, name: 'web' });
      return status?.observedGeneration === generation && status.desiredHealthy === desiredHealthy;
    });
  await world.admin.create(budgets, budget, { namespace });
  await seen(1, 3);
  await world.admin.patch(budgets, { namespace, name: 'web' }, 'merge', { spec: { minAvailable: 2 } });
  await seen(2, 2);
});

test('a budget that is deleted here refuses no eviction any more', async () => {
  const namespace = 'default';
  await world.admin.create(resources.deployments, deployment('web', 3, 'east'), { namespace });
  await world.admin.create(budgets, budget, { namespace });
  await settled(world.admin, 'web.deployments.apps');
  const [pod = ''] = await readyPods(world.physical('east'), 'web');
  const evict = async () => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } };
    await world.admin.create(resources.pods, eviction, { namespace, name: pod, subresource: 'eviction' });
  };
  await until('it is there', async () => (await copyOn('east'))?.status?.observedGeneration === 1);
  await until('it refuses', () =>
    evict().then(
      () => false,
      ({ code }) => code === 429,
    ),
  );
  await world.admin.delete(budgets, { namespace, name: 'web' });
  await evict();
});

test('whoever is told that a pod is evicted, or deleted, reads it as going, or gone, from then on', async () => {
  const namespace = 'default';
  await world.admin.create(resources.deployments, deployment('web', 6, 'east'), { namespace });
  await settled(world.admin, 'web.deployments.apps');
  const pods = async () => (await world.admin.list(resources.pods, { namespace })).items;
  const isGoing = async (name: string, uid: string | undefined) => {
    const { metadata } = (await pods()).find((pod) => pod.metadata.name === name) ?? {};
    return metadata?.uid !== uid || metadata?.deletionTimestamp !== undefined;
  };
  await until('all are shown', async () => (await pods()).length === 6);
  for (const [i, { metadata }] of (await pods()).entries()) {
    const { name = '', uid } = metadata;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    if (i % 2) await world.admin.delete(resources.pods, { namespace, name });
    else await world.admin.create(resources.pods, eviction, { namespace, name, subresource: 'eviction' });
    expect(await isGoing(name, uid)).toBe(true);
  }
});

test('a PodDisruptionBudget of a spread workload lets each cluster disrupt its own pods, as one cluster would', async () => {
  const namespace = 'default';
  await world.admin.create(resources.deployments, deployment('web', 5, 'east,west'), { namespace });
  await world.admin.create(budgets, budget, { namespace });
  await settled(world.admin, 'web.deployments.apps');
  const allowed = async (cluster: string) => (await copyOn(cluster))?.status?.disruptionsAllowed;
  await until('each cluster allows one', async () => {
    return (await allowed('east')) === 1 && (await allowed('west')) === 1;
  });
  const whole = await until('the whole says so', async () => {
    const found = await world.admin.get<Budget>(budgets, { namespace, name: 'web' });
    return found.status?.disruptionsAllowed === 2 ? found : undefined;
  });
  expect(whole.spec?.minAvailable).toBe(3);
  const [pod = ''] = await readyPods(world.physical('west'), 'web');
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } };
  await world.admin.create(resources.pods, eviction, { namespace, name: pod, subresource: 'eviction' });
  await until(
    'the pod is evicted',
    async () => !(await readyPods(world.physical('west'), 'web')).includes(pod),
  );

  await move(world.admin, resources.deployments, 'web', 'west');
  await until('west has the whole budget', async () => (await copyOn('west'))?.spec?.minAvailable === 3);
});
