import { afterAll, beforeAll, expect, test } from 'vitest';
import { syncerUser } from '../../../apiserver/view/view.ts';
import { Client } from '../../../client/client.ts';
import { clustersAnnotation, placedByAnnotation, schedulerUser } from '../../../cluster/names.ts';
import { reflectedNodes as nodes } from '../../../cluster/nodes.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { deployment, readyPods, resources, settled, until } from '../../world/objects.ts';
import { startWorld, type World } from '../../world/world.ts';

const { deployments, namespaces, pods } = resources;

let world: World;
beforeAll(async () => {
  world = await startWorld({ nodes: 2 });
});
afterAll(() => world.stop());

type Pod = KubeObject<{ nodeName?: string }>;
const at = (name: string) => ({ namespace: 'default', name });
const shown = async () => {
  const { items } = await world.admin.list(nodes);
  return items.map(({ metadata }) => metadata.name ?? '').sort();
};

async function nodesOf(app: string, cluster: string): Promise<string[]> {
  const { items } = await world.physical(cluster).client.list<Pod>(pods, { labelSelector: `app=${app}` });
  return [...new Set(items.flatMap(({ spec }) => spec?.nodeName ?? []))].sort();
}

test('the nodes on which its pods run are shown, until none does', async () => {
  expect(await shown()).toEqual([]);
  await world.admin.create(deployments, deployment('web', 1, 'east'), { namespace: 'default' });
  await settled(world.admin, 'web.deployments.apps');
  const [name = ''] = await until('the pod runs', async () => {
    const found = await nodesOf('web', 'east');
    return found.length > 0 ? found : undefined;
  });
  await until('its node is shown', async () => (await shown()).join() === name);
  const there = await world.physical('east').client.get(nodes, { name });
  const { status, metadata } = await world.admin.get(nodes, { name });
  expect(metadata.labels).toEqual(there.metadata.labels);
  const { capacity } = there.status as { capacity: object };
  expect(status).toMatchObject({ capacity });

  // A heartbeat is no change here; what matters follows.
  const beat = { type: 'Ready', status: 'True', lastHeartbeatTime: '2030-01-01T00:00:00Z' };
  const { client } = world.physical('east');
  const before = await world.admin.get(nodes, { name });
  const ready = (one: KubeObject) => ({ status: { conditions: [one] } });
  await client.patch(nodes, { name, subresource: 'status' }, 'strategic', ready(beat as never));
  await client.patch(nodes, { name }, 'merge', { metadata: { labels: { disk: 'ssd' } } });
  const after = await until('its label is here', async () => {
    const found = await world.admin.get(nodes, { name });
    return found.metadata.labels?.['disk'] === 'ssd' ? found : undefined;
  });
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(JSON.stringify(after)).not.toContain('2030');

  for (const write of [
    () => world.admin.patch(nodes, { name }, 'merge', { spec: { unschedulable: true } }),
    () => world.admin.patch(nodes, { name, subresource: 'status' }, 'merge', { status: { phase: 'x' } }),
    () => world.admin.delete(nodes, { name }),
  ])
    await expect(write()).rejects.toMatchObject({ code: 403, message: /physical cluster east/ });

  await world.admin.delete(deployments, at('web'));
  await until('it is shown no longer', async () => (await shown()).length === 0);
});

/** As `kubectl debug node/NAME` makes it. */
const debuggingPod = (name: string, nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: name } },
  spec: {
    nodeName,
    containers: [{ name: 'debugger', image: 'busybox' }],
    tolerations: [{ operator: 'Exists' }],
  },
});

/** As the controller of a DaemonSet makes it. */
const requiringPod = (name: string, nodeName: string) => {
  const { nodeName: _, ...spec } = debuggingPod(name, nodeName).spec;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
  };
  return { ...debuggingPod(name, nodeName), spec: { ...spec, affinity: { nodeAffinity: required } } };
};

test('a Pod that names a node runs on that one, wherever the rest of its Namespace is', async () => {
  await world.admin.create(deployments, deployment('home', 1), { namespace: 'default' });
  await settled(world.admin, 'home.deployments.apps');
  const home = (await readyPods(world.physical('east'), 'home')).length > 0 ? 'east' : 'west';
  const other = home === 'east' ? 'west' : 'east';
  await world.admin.create(deployments, deployment('far', 2, other), { namespace: 'default' });
  const names = await until('both its nodes are shown', async () => {
    const found = await nodesOf('far', other);
    return found.length === 2 && found.every((name) => name) && (await shown()).length > 2
      ? found
      : undefined;
  });
  const toldAll = (where: string | null) =>
    world.admin.patch(namespaces, { name: 'default' }, 'merge', {
      metadata: { annotations: { [clustersAnnotation]: where } },
    });
  await toldAll(home);
  const [first = '', second = ''] = names;
  // What `kubectl get -o yaml` and `kubectl debug --copy-to --same-node` have of another.
  const annotations = { [clustersAnnotation]: home, [placedByAnnotation]: schedulerUser };
  const copy = debuggingPod('copy', first);
  const made = [
    debuggingPod('look-0', first),
    debuggingPod('look-1', second),
    { ...copy, metadata: { ...copy.metadata, annotations } },
    requiringPod('required', second),
  ];
  const where = [first, second, first, second];
  for (const [i, pod] of made.entries()) {
    const app = pod.metadata.name;
    await world.admin.create(pods, pod, { namespace: 'default' });
    await until(`${app} runs`, async () => (await nodesOf(app, other)).join() === where[i]);
    expect(await nodesOf(app, home)).toEqual([]);
  }
  await toldAll(null);
  for (const app of ['home', 'far']) await world.admin.delete(deployments, at(app));
  for (const { metadata } of made) await world.admin.delete(pods, at(metadata.name));
  await until('none is shown any longer', async () => (await shown()).length === 0);
});

test("a node that a user made stays the user's", async () => {
  const [name = ''] = (await world.physical('west').client.list(nodes)).items.map((one) => one.metadata.name);
  await world.admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await world.admin.create(deployments, deployment('api', 4, 'west'), { namespace: 'default' });
  await settled(world.admin, 'api.deployments.apps');
  await until('the others are shown', async () => (await shown()).length === 2);
  expect(await readyPods(world.physical('west'), 'api')).toHaveLength(4);
  await world.admin.patch(nodes, { name }, 'merge', { spec: { unschedulable: true } });
  await world.admin.delete(nodes, { name });
});

test('a cluster shows nodes only where it has something', async () => {
  const liar = new Client(world.server.transport(syncerUser('east')), {
    prefix: '/syncers/east',
    userAgent: 'liar',
  });
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mine' } };
  await expect(liar.update(nodes, node, { cluster: 'root' })).rejects.toMatchObject({ code: 403 });
});
