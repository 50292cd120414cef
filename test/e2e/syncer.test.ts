import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { Transport } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, listAt } from '../../kube/untyped.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import { deployment, find, resources, until } from '../world/objects.ts';
import { active, configMap, leaving, namespace, runSyncer, Upstream } from '../world/upstream.ts';

const { configmaps, deployments, namespaces, pods, replicasets } = resources;
const slow = 60_000;

/** Where a cluster is running already, its kubeconfig spares starting one. */
const given = process.env['ATOLL_TEST_KUBECONFIG'];
let cluster: Kubernetes | undefined;
let transport: Transport;
let client: Client;
let upstream: Upstream;
let syncer: ReturnType<typeof runSyncer>;

beforeAll(async () => {
  if (!given) cluster = await startKubernetes({ name: 'syncer', nodes: 1 });
  transport = await transportFromKubeconfigFile(given ?? cluster?.kubeconfig ?? '');
  client = new Client(transport);
  upstream = await Upstream.start('east');
  syncer = runSyncer(upstream, transport);
  await syncer.ready;
});
afterAll(async () => {
  await syncer?.stop();
  await upstream?.close();
  await cluster?.stop();
});

const found = (resource: (typeof resources)[keyof typeof resources], name: string, inside = upstream.home) =>
  find(client, resource, name, inside);
const dataOf = async (name: string) => (await found(configmaps, name))?.['data'];

test('a Deployment and what it needs: applied, run, reflected, repaired, and gone without a trace', async () => {
  const needs = [{ group: '', resource: 'configmaps', name: 'settings' }];
  const ref = await upstream.place(deployment('web', 4), { east: { ...active, replicas: 2 } }, needs);
  const configRef = await upstream.place(configMap('settings'), { east: active });
  await until('ready', async () => (await upstream.slice(ref))?.status?.['readyReplicas'] === 2, slow);
  expect(await upstream.slice(ref)).toMatchObject({
    present: true,
    observedGeneration: 1,
    share: { replicas: 2 },
  });

  const logicalPods = async () => (await upstream.view('east').list(pods)).items;
  await until('2 pods', async () => (await logicalPods()).length === 2, slow);
  expect((await logicalPods())[0]?.metadata).toMatchObject({
    namespace,
    ownerReferences: [{ kind: 'ReplicaSet', controller: true }],
  });
  const sets = (await upstream.view('east').list(replicasets)).items;
  expect(sets.map(({ metadata }) => metadata.ownerReferences)).toMatchObject([
    [{ kind: 'Deployment', name: 'web', uid: ref.uid, controller: true }],
  ]);

  // Drift, by an ordinary client.
  await client.patch(deployments, { namespace: upstream.home, name: 'web' }, 'merge', {
    spec: { replicas: 5 },
  });
  await client.patch(configmaps, { namespace: upstream.home, name: 'settings' }, 'merge', {
    data: { a: 'x' },
  });
  await until(
    'replicas repaired',
    async () =>
      ((await found(deployments, 'web'))?.spec as { replicas?: number } | undefined)?.replicas === 2,
    slow,
  );
  await until('data repaired', async () => (await dataOf('settings'))?.['a' as never] === 'b', slow);

  // A field that leaves the manifest leaves the cluster.
  const data = { a: null, c: 'd' };
  await upstream.admin.patch(configmaps, { namespace, name: 'settings' }, 'merge', { data });
  await until('pruned', async () => JSON.stringify(await dataOf('settings')) === '{"c":"d"}', slow);

  await upstream.shares(ref, { east: leaving });
  await until('left', async () => (await upstream.slice(ref))?.present === false, slow);
  expect((await client.list(pods, { namespace: upstream.home })).items).toEqual([]);
  expect(await found(configmaps, 'settings')).toBeDefined();
  await upstream.shares(configRef, { east: leaving });
  await until('closure left', async () => (await upstream.slice(configRef))?.present === false, slow);
  await upstream.unplace(ref);
  await upstream.unplace(configRef);
  await until('namespace gone', async () => !(await found(namespaces, upstream.home, '')), slow);
  expect(await logicalPods()).toEqual([]);
});

test('a Service that is withdrawn: its pods run on, and its endpoints are ready nowhere before any of them goes', async () => {
  const needs = [{ group: '', resource: 'services', name: 'shop' }];
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'shop' },
    spec: { selector: { app: 'shop' }, ports: [{ port: 80 }] },
  };
  const reached = await upstream.place(service, { east: active });
  const ref = await upstream.place(deployment('shop', 2), { east: { ...active, replicas: 2 } }, needs);
  /** Of all endpoints of the Service there: how many, and of how many each condition is true. */
  const endpoints = async () => {
    const labelSelector = 'kubernetes.io/service-name=shop';
    const { items } = await client.list(resources.endpointslices, {
      namespace: upstream.home,
      labelSelector,
    });
    const all = items.flatMap((slice) => listAt(slice, 'endpoints'));
    const count = (condition: string) => all.filter((e) => at(e, 'conditions', condition) === true).length;
    return [all.length, count('ready'), count('serving'), count('terminating')].join();
  };
  await until('its endpoints are ready', async () => (await endpoints()) === '2,2,2,0', slow);
  await upstream.shares(reached, { east: { ...active, withdrawn: true } });
  await until('they are about to go, and serve still', async () => (await endpoints()) === '2,0,2,2', slow);
  expect((await upstream.slice(ref))?.status?.['readyReplicas']).toBe(2);
  await upstream.shares(reached, { east: active });
  await until('they are ready again', async () => (await endpoints()) === '2,2,2,0', slow);
  await upstream.shares(reached, { east: { ...active, withdrawn: true } });
  await until('they are about to go once more', async () => (await endpoints()) === '2,0,2,2', slow);
  await upstream.shares(ref, { east: leaving });
  await until('left', async () => (await upstream.slice(ref))?.present === false, slow);
  await upstream.shares(reached, { east: leaving });
  await until('nothing stands in for its slices', async () => (await endpoints()) === '0,0,0,0', slow);
  await upstream.unplace(ref);
  await upstream.unplace(reached);
  await until('namespace gone', async () => !(await found(namespaces, upstream.home, '')), slow);
});

test('what another made there is an error of the share, and untouched', async () => {
  await upstream.place(configMap('first'), { east: active });
  await until('applied', () => found(configmaps, 'first'), slow);
  const theirs = await client.create(configmaps, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'theirs', namespace: upstream.home },
    data: { own: 'yes' },
  });
  const ref = await upstream.place(configMap('theirs'), { east: active });
  await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned', slow);
  expect(await found(configmaps, 'theirs')).toEqual(theirs);
});

/** Whether the cluster itself refuses this ConfigMap; where it does not, it is gone again. */
async function refuses(map: KubeObject): Promise<boolean> {
  const key = { namespace: upstream.home, name: map.metadata.name ?? '' };
  try {
    await client.create(configmaps, { ...map, metadata: key });
  } catch (error) {
    expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
    return true;
  }
  await client.delete(configmaps, key);
  return false;
}

test('what the cluster alone refuses is told in its own words', async () => {
  await upstream.place(configMap('before'), { east: active });
  await until('applied', () => found(configmaps, 'before'), slow);
  const quota = { group: '', version: 'v1', resource: 'resourcequotas' };
  await client.create(quota, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'none', namespace: upstream.home },
    spec: { hard: { 'count/configmaps': '0' } },
  });
  // The cluster's admission learns of a quota by a watch, and admits what comes before.
  await until('the quota counts', () => refuses(configMap('probe')), slow);
  const ref = await upstream.place(configMap('refused'), { east: active });
  const slice = await until('error', async () => {
    const told = await upstream.slice(ref);
    return told?.error && told;
  });
  expect(slice.error).toMatchObject({
    reason: 'Forbidden',
    message: expect.stringContaining('configmaps "refused" is forbidden'),
  });
});

test('the heartbeat says what the cluster has', async () => {
  const read = () => upstream.cluster();
  const status = await until('allocatable', async () =>
    (await read()).status?.allocatable ? (await read()).status : undefined,
  );
  expect(status.version).toMatch(/^v1\.36/);
  expect(Number(status.allocatable?.['pods'])).toBeGreaterThan(0);
  expect(status.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
});
