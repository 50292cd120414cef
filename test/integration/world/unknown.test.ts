import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, find, resources, settled, template, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

interface Status {
  phase?: string;
  reason?: string;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  observedGeneration?: number;
  conditions?: Condition[];
  containerStatuses?: { ready: boolean }[];
}

type Told = KubeObject<unknown, Status>;

const words = /^cluster west has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

const conditionOf = (object: Told | undefined, type: string) =>
  object?.status?.conditions?.find((condition) => condition.type === type);

const web = () => find<Told>(world.admin, resources.deployments, 'web');

/** Of all pods that are shown: how many are ready, by their condition and by their containers, and not Unknown. */
async function pods(): Promise<{ all: number; ready: number; started: number; unknown: Told[] }> {
  const { items } = await world.admin.list<Told>(resources.pods, { namespace: 'default' });
  const unknown = items.filter(({ status }) => status?.reason === 'Unknown');
  const ready = items.filter((pod) => conditionOf(pod, 'Ready')?.status === 'True').length;
  const started = items.filter(({ status }) => status?.containerStatuses?.every((one) => one.ready)).length;
  return { all: items.length, ready, started, unknown };
}

async function ready(count: number): Promise<Told> {
  return await until(`${count} replicas of web are said to be ready`, async () => {
    const found = await web();
    return (found?.status?.readyReplicas ?? 0) === count ? found : undefined;
  });
}

test('pods of a silent cluster are Unknown, nothing counts them, and the workload says why; until it is heard again', async () => {
  await world.admin.create(resources.deployments, deployment('web', 6, 'east,west'), {
    namespace: 'default',
  });
  await settled(world.admin, 'web.deployments.apps');
  await ready(6);
  await until('all pods are shown ready', async () => (await pods()).ready === 6);

  world.physical('west').faults.silence();
  const silent = await ready(3);
  expect(silent.status).toMatchObject({ replicas: 3, availableReplicas: 3 });
  expect(conditionOf(silent, 'ClustersHeard')).toMatchObject({
    status: 'False',
    reason: 'ClusterSilent',
    message: expect.stringMatching(words),
  });
  expect(conditionOf(silent, 'Available')?.status).toBe('False');
  const west = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'west', '');
  const said = west?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  expect(said).toContain(conditionOf(silent, 'ClustersHeard')?.message);
  const { unknown } = await until('its pods are Unknown', async () => {
    const now = await pods();
    return now.unknown.length === 3 ? now : undefined;
  });
  expect(await pods()).toMatchObject({ all: 6, ready: 3, started: 3 });
  for (const pod of unknown) {
    expect(pod.status?.phase).toBe('Running');
    expect(conditionOf(pod, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'NodeStatusUnknown',
      message: expect.stringMatching(words),
    });
  }

  // A spec that west has not seen is not said to be observed.
  const spec = { template: template('web', 'web:2') };
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'web' }, 'merge', { spec });
  const { metadata } = await world.admin.get(resources.deployments, { namespace: 'default', name: 'web' });
  await until('east has seen it', async () => {
    const east = await world.physical('east').client.list<Told>(resources.pods, { labelSelector: 'app=web' });
    return JSON.stringify(east.items).includes('web:2');
  });
  expect((await web())?.status?.observedGeneration).toBeLessThan(metadata.generation ?? 0);

  world.physical('west').faults.heal();
  const heard = await ready(6);
  expect(conditionOf(heard, 'ClustersHeard')).toBeUndefined();
  await until(
    'it is observed',
    async () => (await web())?.status?.observedGeneration === metadata.generation,
  );
});

test('a pod that has not changed meanwhile is what it was when its cluster is heard again', async () => {
  await world.admin.create(resources.deployments, deployment('web', 2, 'west'), { namespace: 'default' });
  const pod = template('alone') as { metadata: object; spec: object };
  await world.admin.create(
    resources.pods,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: pod.spec,
      metadata: { name: 'alone', namespace: 'default', annotations: { 'atoll.dev/clusters': 'west' } },
    },
    { namespace: 'default' },
  );
  await settled(world.admin, 'web.deployments.apps');
  await until('all are ready', async () => (await pods()).ready === 3);
  for (let time = 0; time < 2; time += 1) {
    world.physical('west').faults.silence();
    await until('all are Unknown', async () => (await pods()).unknown.length === 3);
    expect(await pods()).toMatchObject({ all: 3, ready: 0, started: 0 });
    world.physical('west').faults.heal();
    await until('all are ready again', async () => (await pods()).ready === 3);
    expect(await pods()).toMatchObject({ all: 3, started: 3, unknown: [] });
  }
});

test('a short silence changes no pod and no count', async () => {
  await world.stop();
  world = await startWorld({ silentMs: 3_600_000 });
  await world.admin.create(resources.deployments, deployment('web', 2, 'west'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  await ready(2);
  await until('all are ready', async () => (await pods()).ready === 2);
  world.physical('west').faults.silence();
  // Said once it is noticed, and with it all that would follow at once.
  await until('the silence is told', async () => {
    const { items } = await world.admin.list<KubeObject>(resources.events, { namespace: 'default' });
    return items.some(({ reason }) => reason === 'ClusterSilent');
  });
  const west = await find<PhysicalCluster>(world.admin, resources.physicalclusters, 'west', '');
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'web' }, 'merge', {
    metadata: { labels: { seen: west?.metadata.resourceVersion ?? '' } },
  });
  expect(await pods()).toMatchObject({ all: 2, ready: 2, unknown: [] });
  expect((await web())?.status?.readyReplicas).toBe(2);
});

test('of a workload whose cluster was given up nothing is left to count', async () => {
  await world.admin.create(resources.deployments, deployment('web', 2, 'west'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  expect(conditionOf(await ready(2), 'Available')?.status).toBe('True');
  world.physical('west').faults.silence();
  await world.admin.patch(resources.physicalclusters, { name: 'west' }, 'merge', { spec: { forget: true } });
  await world.admin.delete(resources.physicalclusters, { name: 'west' });
  const { status } = await ready(0);
  expect(status).not.toHaveProperty('replicas');
  expect(conditionOf({ ...(await web()), status } as Told, 'Available')?.status).toBe('False');
});
