import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, isReady, move, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

/** `Reason: message` of what Atoll itself has said of the Deployment web, as `kubectl describe` finds it: by uid. */
async function said(): Promise<string[]> {
  const { metadata } = await world.admin.get(resources.deployments, { namespace: 'default', name: 'web' });
  const fieldSelector = `involvedObject.uid=${metadata.uid}`;
  const { items } = await world.admin.list<KubeObject>(resources.events, {
    namespace: 'default',
    fieldSelector,
  });
  return items
    .filter((event) => String(event['reportingComponent']).startsWith('atoll-'))
    .map((event) => `${event['reason']}: ${event['message']}`);
}

const hears = (what: RegExp) => until(String(what), async () => (await said()).find((one) => what.test(one)));

test('placing, moving, refusing and silence are told on the user’s own object, once each', async () => {
  const spec = { capacity: { pods: '2' } };
  await world.admin.patch(resources.physicalclusters, { name: 'east' }, 'merge', { spec });
  await world.admin.create(resources.deployments, deployment('web', 2, 'east'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  await hears(/^Placed: east: named by its annotation$/);
  await move(world.admin, resources.deployments, 'web', 'west');
  await hears(/^Joining: west 0\/2; until it is ready, east stays as it is$/);
  await hears(/^Moved: east left; it is on west$/);
  await world.admin.patch(resources.deployments, { namespace: 'default', name: 'web' }, 'merge', {
    metadata: { annotations: { 'atoll.dev/clusters': 'east' } },
    spec: { replicas: 3 },
  });
  await hears(/^Blocked: east: needs 3 pods, 2 left;/);
  world.physical('west').faults.silence();
  await until('west is not ready', async () => !(await isReady(world.admin, 'west')));
  await hears(/^ClusterSilent: cluster west has not answered since /);
  const all = await said();
  expect(new Set(all).size).toBe(all.length);
});

test('events of what runs say on which cluster', async () => {
  await world.admin.create(resources.deployments, deployment('web', 2, 'east,west'), {
    namespace: 'default',
  });
  const event = (cluster: string) => ({
    apiVersion: 'v1',
    kind: 'Event',
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: 'Scaled up',
    metadata: { name: `web.${cluster}` },
  });
  await settled(world.admin, 'web.deployments.apps');
  for (const cluster of ['east', 'west']) {
    const { client } = world.physical(cluster);
    const { items } = await client.list<KubeObject>(resources.deployments, { labelSelector: '' });
    const web = items.find(({ metadata }) => metadata.name === 'web');
    const { namespace = '', uid } = web?.metadata ?? {};
    const involvedObject = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web', uid };
    await client.create(resources.events, { ...event(cluster), involvedObject } as never, { namespace });
  }
  for (const cluster of ['east', 'west']) {
    await until(`that of ${cluster}`, async () => {
      const { items } = await world.admin.list<KubeObject>(resources.events, { namespace: 'default' });
      return items.some((one) => one['message'] === `[${cluster}] Scaled up`);
    });
  }
});

test('a bare pod that is not restarted comes to its end', async () => {
  await world.admin.create(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'smoke', namespace: 'default', annotations: { 'atoll.dev/clusters': 'east' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] },
  });
  await until('it has succeeded', async () => {
    const { status } = await world.admin.get(resources.pods, { namespace: 'default', name: 'smoke' });
    return (status as { phase?: string }).phase === 'Succeeded';
  });
});

/** `Reason: message` of what is said of an object, as `kubectl describe` finds it, until all of it is. */
async function hearsOf(kind: string, name: string, uid: string | undefined, wanted: RegExp[]): Promise<void> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name},involvedObject.uid=${uid}`;
  for (const what of wanted)
    await until(`${kind} ${name}: ${what}`, async () => {
      const { items } = await world.admin.list<KubeObject>(resources.events, {
        namespace: 'default',
        fieldSelector,
      });
      return items.some((event) => what.test(`${event['reason']}: ${event['message']}`));
    });
}

const onlyPod = () =>
  until('its pod', async () => {
    const { items } = await world.admin.list<KubeObject>(resources.pods, { namespace: 'default' });
    return items[0];
  });

test('what a simulated cluster does is told as by a real one: of the workload, with the cluster, and of its pods', async () => {
  const namespace = 'default';
  const web = await world.admin.create(resources.deployments, deployment('web', 1, 'east'), { namespace });
  await settled(world.admin, 'web.deployments.apps');
  await hearsOf('Deployment', 'web', web.metadata.uid, [
    /^ScalingReplicaSet: \[east\] Scaled up replica set web-\S+ from 0 to 1$/,
  ]);
  const { name = '', uid } = (await onlyPod()).metadata;
  await hearsOf('Pod', name, uid, [
    new RegExp(`^Scheduled: Successfully assigned default/${name} to east-1$`),
    /^Pulled: Container image "\S+" already present on machine$/,
    /^Created: Container created$/,
    /^Started: Container started$/,
  ]);
  await world.admin.delete(resources.pods, { namespace, name });
  // It is soon gone, and with it whom the logical cluster could show that of.
  await until('the kubelet says that it stops', async () => {
    const { items } = await world.physical('east').client.list<KubeObject>(resources.events);
    return items.some((event) => event['reason'] === 'Killing');
  });
});

test('a pod that fits on no node of its cluster says so', async () => {
  const namespace = 'default';
  const big = deployment('big', 1, 'east');
  const { spec } = (big.spec as { template: { spec: { containers: object[] } } }).template;
  spec.containers = [{ ...spec.containers[0], resources: { requests: { cpu: '9' } } }];
  await world.admin.create(resources.deployments, big, { namespace });
  const { name = '', uid } = (await onlyPod()).metadata;
  await hearsOf('Pod', name, uid, [/^FailedScheduling: 0\/\d nodes are available: \d Insufficient cpu\.$/]);
});
