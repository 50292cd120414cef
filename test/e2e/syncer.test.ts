import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfigFile } from '../../client/kubeconfig.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import type { Transport } from '../../kube/http.ts';
import { isStatusError } from '../../kube/status.ts';
import { type Kubernetes, startKubernetes } from '../kubernetes/kubernetes.ts';
import {
  active,
  configMap,
  deployment,
  east,
  keys,
  namespace,
  placementKey,
  runOn,
  Upstream,
  until,
} from '../unit/syncer/world.ts';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const pods = { group: '', version: 'v1', resource: 'pods' };
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const slow = 60_000;

/** Where a cluster is running already, its kubeconfig spares starting one. */
const given = process.env['ATOLL_TEST_KUBECONFIG'];
let cluster: Kubernetes | undefined;
let transport: Transport;
let client: Client;
let upstream: Upstream;
let syncer: ReturnType<typeof runOn>;

beforeAll(async () => {
  if (!given) cluster = await startKubernetes({ name: 'syncer', nodes: 1 });
  transport = await transportFromKubeconfigFile(given ?? cluster?.kubeconfig ?? '');
  client = new Client(transport);
  upstream = await Upstream.make('east');
  syncer = runOn(upstream, transport);
  await syncer.ready;
}, 120_000);
afterAll(async () => {
  await syncer?.stop();
  await cluster?.stop();
});

const found = async (resource: typeof pods, name: string, inside: string | undefined = east) => {
  try {
    return await client.get(resource, { namespace: inside, name });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
};
const dataOf = async (name: string) => (await found(configMaps, name))?.['data'];

test('a Deployment and what it needs: applied, run, reflected, repaired, and gone without a trace', async () => {
  const [root, ref] = deployment('web');
  const [config, configRef] = configMap('settings');
  await upstream.place(root, ref, { east: { ...active, replicas: 2 } }, [
    { group: '', resource: 'configmaps', name: 'settings' },
  ]);
  await upstream.place(config, configRef, { east: active });
  await until('ready', async () => (await upstream.slice(ref))?.status?.['readyReplicas'] === 2, slow);
  expect(await upstream.slice(ref)).toMatchObject({
    present: true,
    observedGeneration: 1,
    share: { replicas: 2 },
  });

  const logicalPods = async () => (await upstream.client('east').list(pods)).items;
  await until('2 pods', async () => (await logicalPods()).length === 2, slow);
  expect((await logicalPods())[0]?.metadata).toMatchObject({
    namespace,
    ownerReferences: [{ kind: 'ReplicaSet', controller: true }],
  });
  const sets = (await upstream.client('east').list({ ...deployments, resource: 'replicasets' })).items;
  expect(sets.map(({ metadata }) => metadata.ownerReferences)).toMatchObject([
    [{ kind: 'Deployment', name: 'web', uid: 'uid-of-web', controller: true }],
  ]);

  // Drift, by an ordinary client.
  await client.patch(deployments, { namespace: east, name: 'web' }, 'merge', { spec: { replicas: 5 } });
  await client.patch(configMaps, { namespace: east, name: 'settings' }, 'merge', { data: { a: 'x' } });
  await until(
    'replicas repaired',
    async () =>
      ((await found(deployments, 'web'))?.spec as { replicas?: number } | undefined)?.replicas === 2,
    slow,
  );
  await until('data repaired', async () => (await dataOf('settings'))?.['a' as never] === 'b', slow);

  // A field that leaves the manifest leaves the cluster.
  await upstream.place({ ...config, data: { c: 'd' } }, configRef, { east: active });
  await until('pruned', async () => JSON.stringify(await dataOf('settings')) === '{"c":"d"}', slow);

  await upstream.shares(ref, { east: { phase: 'Leaving' } });
  await until('left', async () => (await upstream.slice(ref))?.present === false, slow);
  expect((await client.list(pods, { namespace: east })).items).toEqual([]);
  expect(await found(configMaps, 'settings')).toBeDefined();
  await upstream.shares(configRef, { east: { phase: 'Leaving' } });
  await until('closure left', async () => (await upstream.slice(configRef))?.present === false, slow);
  await upstream.remove(placementKey(ref));
  await upstream.remove(placementKey(configRef));
  await until('namespace gone', async () => !(await found(namespaces, east, undefined)), slow);
  expect(await logicalPods()).toEqual([]);
}, 180_000);

test('what another made there is an error of the share, and untouched', async () => {
  const [first, firstRef] = configMap('first');
  await upstream.place(first, firstRef, { east: active });
  await until('applied', () => found(configMaps, 'first'), slow);
  const theirs = await client.create(configMaps, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'theirs', namespace: east },
    data: { own: 'yes' },
  });
  const [config, ref] = configMap('theirs');
  await upstream.place(config, ref, { east: active });
  await until('error', async () => (await upstream.slice(ref))?.error?.reason === 'NotOwned', slow);
  expect(await found(configMaps, 'theirs')).toEqual(theirs);
}, 60_000);

test('what the cluster refuses is told in its own words', async () => {
  const [root, ref] = deployment('bad');
  await upstream.place({ ...root, spec: { replicas: 1, selector: {}, template: {} } }, ref, { east: active });
  const slice = await until('error', async () => {
    const told = await upstream.slice(ref);
    return told?.error ? told : undefined;
  });
  expect(slice.error).toMatchObject({
    reason: 'Invalid',
    message: expect.stringContaining('Deployment.apps "bad" is invalid'),
  });
}, 60_000);

test('the heartbeat says what the cluster has', async () => {
  const read = () => upstream.read<PhysicalCluster>(keys.physicalCluster('east'));
  const status = await until('allocatable', async () =>
    (await read())?.status?.allocatable ? (await read())?.status : undefined,
  );
  expect(status.version).toMatch(/^v1\.36/);
  expect(Number(status.allocatable?.['pods'])).toBeGreaterThan(0);
  expect(status.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
});
