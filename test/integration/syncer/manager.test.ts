import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApiServer } from '../../../apiserver/server.ts';
import { syncerUser, syncerView } from '../../../apiserver/view/view.ts';
import { Client } from '../../../client/client.ts';
import { TransportError } from '../../../client/errors.ts';
import { heartbeatsIn, heartbeatsLabel } from '../../../cluster/heartbeats.ts';
import { physicalNamespace } from '../../../cluster/placement.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import { ownResources } from '../../../cluster/resources.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import { runLeader } from '../../../controller/leader.ts';
import type { ApiResponse, Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { isStatusError } from '../../../kube/status.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Syncers, startSyncers } from '../../../syncer/manager.ts';
import { runSilence } from '../../../syncer/silence.ts';
import { until } from '../../world/objects.ts';

const admin = { name: 'admin', groups: ['system:masters'] };
const atoll = { group: 'atoll.dev', version: 'v1alpha1' };
const clusters = { ...atoll, resource: 'physicalclusters' };
const placements = { ...atoll, resource: 'placements' };
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const secrets = { group: '', version: 'v1', resource: 'secrets' };
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

const physicals = new Map<string, { transport: Transport; client: Client }>();
let client: Client;
let syncers: Syncers;
let life: AbortController;
/** What the syncers' manager asks for. */
const asked: string[] = [];
/** Whoever asks for the way to a cluster waits for it. */
let opening: Promise<void> | undefined;
/** Its watch of Secrets tells nothing. */
let isDeaf = false;

async function* unlessDeaf<T>(all: AsyncIterable<T>): AsyncIterable<T> {
  for await (const some of all) if (!isDeaf) yield some;
}

beforeEach(async () => {
  const store = openMemory();
  const server = createApiServer({
    store,
    logicalClusters: true,
    resources: ownResources.map((resource) => ({
      ...resource,
      custom: true,
      subresources: { status: true },
    })),
    authenticate: [],
    views: [syncerView()],
  });
  for (const name of ['east', 'west']) {
    const physical = createApiServer({ store: openMemory(), logicalClusters: false, authenticate: [] });
    const transport = physical.transport(admin);
    physicals.set(name, { transport, client: new Client(transport) });
  }
  life = new AbortController();
  const transport = server.transport(admin);
  client = new Client(transport, { cluster: 'root' });
  isDeaf = false;
  opening = undefined;
  const watched: Transport = async (request) => {
    asked.push(`${request.method} ${request.url}`);
    const response = await transport(request);
    const { events } = response;
    return events && request.url.includes('/secrets?')
      ? { ...response, events: unlessDeaf(events) }
      : response;
  };
  syncers = startSyncers({
    client: new Client(watched, { cluster: 'root' }),
    transportFor: async ({ metadata: { name = '' } }) => {
      asked.push(`the way to ${name}`);
      await opening;
      const found = physicals.get(name);
      if (!found) throw new Error(`no ${name}`);
      return found.transport;
    },
    upstreamFor: (name, { fence }) => {
      const inner = server.transport(syncerUser(name), fence);
      const upstream: Transport = (request) => {
        asked.push(`${request.method} ${request.url}`);
        return inner(request);
      };
      return new Client(upstream, { prefix: `/syncers/${name}` });
    },
    elect: (name, lead, signal) =>
      runLeader({ store, name, lead, signal, logger: silentLogger, ttlMs: 1000 }),
    signal: life.signal,
    logger: silentLogger,
    heartbeatMs: 250,
    namespaceDelayMs: 50,
  });
});
afterEach(async () => {
  life.abort(new Error('done'));
  await syncers.stopped;
});

async function register(name: string): Promise<void> {
  const namespace = 'default';
  const metadata = { name, namespace };
  await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { kubeconfig: 'e30=' } });
  const spec = { kubeconfigSecretRef: { namespace, name } };
  await client.create(clusters, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name },
    spec,
  });
}

const ready = async (name: string) =>
  (await client.get<PhysicalCluster>(clusters, { name })).status?.conditions?.find((c) => c.type === 'Ready')
    ?.status;

/** As scheduler and splitter would. */
async function place(name: string, where: Placement['spec']): Promise<void> {
  const metadata = { name: `${name}.configmaps`, namespace: 'default' };
  await client.create(placements, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata,
    spec: where,
  });
}

test('neither the credentials of a cluster nor itself are read whenever it says that it lives, and they are when it or they change', async () => {
  await register('east');
  await until('east', async () => (await ready('east')) === 'True');
  const beat = () =>
    [...syncers.clusters()].find(({ metadata }) => metadata.name === 'east')?.status?.lastHeartbeatTime;
  const readsOf = (...ends: string[]) =>
    asked.splice(0).filter((one) => one.startsWith('GET') && ends.some((end) => one.endsWith(end))).length;
  const reads = () => readsOf('/secrets/east');
  const beats = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const last = beat();
      await until('it says that it lives', () => beat() !== last);
    }
  };
  await beats(2);
  reads();
  await beats(5);
  // After a beat that came late it is read what others said meanwhile.
  expect(readsOf('/secrets/east', '/physicalclusters/east'), 'not with each').toBeLessThan(5);
  const secret = { namespace: 'default', name: 'east' };
  await client.patch(secrets, secret, 'merge', { data: { kubeconfig: 'e30K' } });
  await until('they are read', () => reads() > 0);
  await client.patch(clusters, { name: 'east' }, 'merge', { spec: { namespaceLabels: ['team'] } });
  await until('they are read again', () => reads() > 0);
});

test('that nothing is new of clusters is said of all together: none of them is written, and none falls silent', async () => {
  await register('east');
  await register('west');
  const watching = new AbortController();
  const silentMs = 3_000;
  const silence = runSilence({ client, signal: watching.signal, logger: silentLogger, silentMs });
  for (const name of ['east', 'west']) await until(name, async () => (await ready(name)) === 'True');
  const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
  const said = async () => {
    const { items } = await client.list(leases, { namespace: 'kube-system', labelSelector: heartbeatsLabel });
    expect(items.length).toBeLessThan(2);
    return items[0] && heartbeatsIn(items[0]);
  };
  const ofBoth = async () => {
    const times = await said();
    return times?.has('east') && times.has('west') ? times : undefined;
  };
  const first = await until('both are named', ofBoth);
  const long = (times: Map<string, number>) =>
    [...first].every(([name, at]) => (times.get(name) ?? 0) > at + silentMs);
  await until('it was said for longer than they may be silent', async () => {
    const times = await ofBoth();
    return times !== undefined && long(times);
  });
  const own = async (name: string) =>
    Date.parse((await client.get<PhysicalCluster>(clusters, { name })).status?.lastHeartbeatTime ?? '');
  for (const name of ['east', 'west'])
    await until('it was said of it with others alone', async () => {
      const before = await own(name);
      return ((await said())?.get(name) ?? 0) > before && (await own(name)) === before;
    });
  for (const name of ['east', 'west']) expect(await ready(name)).toBe('True');
  watching.abort();
  await silence;
});

test('of a cluster whose kubeconfig does not work is told why, until it does', async () => {
  await register('north');
  const said = async () => {
    const { status } = await client.get<PhysicalCluster>(clusters, { name: 'north' });
    return status?.conditions?.find(({ type }) => type === 'Ready');
  };
  const unread = await until('it is told', said);
  expect(unread).toMatchObject({ status: 'False', reason: 'Unreachable' });
  expect(unread.message).toMatch(/its kubeconfig does not work: no north$/);
  expect(syncers.transport('north')).toBeUndefined();
  physicals.set('north', physicals.get('east')!);
  await client.patch(secrets, { namespace: 'default', name: 'north' }, 'merge', { data: { a: 'e30K' } });
  await until('it answers', async () => (await ready('north')) === 'True');
  physicals.delete('north');
});

test('of one that is reached by its kubeconfig of before is told that the present one does not work', async () => {
  await register('east');
  await until('ready', async () => (await ready('east')) === 'True');
  const east = physicals.get('east')!;
  physicals.delete('east');
  const given = (data: object) =>
    client.patch(secrets, { namespace: 'default', name: 'east' }, 'merge', { data });
  await given({ a: 'e30K' });
  const readyOf = async () => {
    const { status } = await client.get<PhysicalCluster>(clusters, { name: 'east' });
    return status?.conditions?.find(({ type }) => type === 'Ready');
  };
  const isBy = (reason: string) => async () => (await readyOf())?.reason === reason;
  await until('it is told', isBy('FormerKubeconfig'));
  expect(await readyOf()).toMatchObject({
    status: 'True',
    message: 'the cluster answers by its kubeconfig of before; that of now does not work: no east',
  });
  await given({ a: null });
  await until('it is told no more', isBy('SyncerConnected'));
  physicals.set('east', east);
});

test('another cluster of the same name, whose kubeconfig does not work, is not reached by the one of before', async () => {
  await register('east');
  await until('ready', async () => (await ready('east')) === 'True');
  const { metadata, spec } = await client.get<PhysicalCluster>(clusters, { name: 'east' });
  let open: () => void = () => undefined;
  opening = new Promise((resolve) => {
    open = resolve;
  });
  asked.splice(0);
  await client.patch(secrets, { namespace: 'default', name: 'east' }, 'merge', { data: { a: 'e30K' } });
  await until('it is looked at', () => asked.includes('the way to east'));
  physicals.delete('east');
  await client.delete(clusters, { name: 'east' });
  const isOther = async () => {
    const found = await client.get<PhysicalCluster>(clusters, { name: 'east' }).catch(() => undefined);
    return found?.metadata.uid !== metadata.uid;
  };
  await until('it has gone', isOther);
  const { apiVersion, kind } = { apiVersion: 'atoll.dev/v1alpha1', kind: 'PhysicalCluster' };
  await client.create(clusters, { apiVersion, kind, metadata: { name: 'east' }, spec });
  open();
  await until('the other one is told why', async () => {
    const { status } = await client.get<PhysicalCluster>(clusters, { name: 'east' });
    return status?.conditions?.some(({ message }) => message?.includes('its kubeconfig does not work'));
  });
  expect(syncers.transport('east')).toBeUndefined();
});

test('clusters are engaged and disengaged one by one; their objects follow their shares', async () => {
  await register('east');
  await register('west');
  await until('east', async () => (await ready('east')) === 'True');
  await until('west', async () => (await ready('west')) === 'True');
  const made = await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default' },
    data: { a: 'b' },
  });
  const ref = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    name: 'settings',
    uid: made.metadata.uid!,
  };
  await place('settings', {
    ref,
    clusters: ['east', 'west'],
    shares: { east: { phase: 'Active' }, west: { phase: 'Joining' } },
  });
  const slices = async () =>
    (await client.get<Placement>(placements, { namespace: 'default', name: 'settings.configmaps' })).status
      ?.clusters;
  await until('both', async () => (await slices())?.['east']?.present && (await slices())?.['west']?.present);
  const namespace = physicalNamespace('root', 'default');
  const there = (name: string) =>
    physicals
      .get(name)!
      .client.get(configMaps, { namespace, name: 'settings' })
      .catch((error) => {
        if (isStatusError(error, 'NotFound')) return undefined;
        throw error;
      });
  await client.patch(configMaps, { namespace: 'default', name: 'settings' }, 'merge', {
    data: { c: 'd', a: null },
  });
  await until('pruned', async () => JSON.stringify((await there('west'))?.['data']) === '{"c":"d"}');

  const reflected = (inside: string) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace: inside, uid: 'u', annotations: reflectedAs({}, 'u', ['west']) },
  });
  expect((await syncers.connectPod('root', reflected('default')))?.path).toBe(
    `/api/v1/namespaces/${namespace}/pods/p`,
  );
  expect(await syncers.connectPod('root', reflected('kube-system'))).toBeUndefined();
  expect(syncers.transport('west')).toBe(physicals.get('west')!.transport);
  await client.delete(clusters, { name: 'west' });
  await until('disengaged', () => syncers.transport('west') === undefined);
  expect(await there('west')).toBeDefined();
  await client.patch(placements, { namespace: 'default', name: 'settings.configmaps' }, 'merge', {
    spec: { shares: { east: { phase: 'Leaving' } } },
  });
  await until('left', async () => (await slices())?.['east']?.present === false);
  expect(await there('east')).toBeUndefined();
  expect((await physicals.get('west')!.client.get(namespaces, { name: namespace })).metadata.name).toBe(
    namespace,
  );
});

test('a cluster that falls silent is Unknown, and nothing is deleted', async () => {
  await register('east');
  await until('ready', async () => (await ready('east')) === 'True');
  life.abort(new Error('killed'));
  await syncers.stopped;
  const watching = new AbortController();
  const silence = runSilence({ client, signal: watching.signal, logger: silentLogger, silentMs: 300 });
  await until('unknown', async () => (await ready('east')) === 'Unknown');
  watching.abort(new Error('done'));
  await silence;
});

test('new credentials are a new lifetime', async () => {
  await register('east');
  await until('ready', async () => (await ready('east')) === 'True');
  const next = createApiServer({ store: openMemory(), logicalClusters: false, authenticate: [] }).transport(
    admin,
  );
  physicals.set('east', { transport: next, client: new Client(next) });
  await client.patch(secrets, { namespace: 'default', name: 'east' }, 'merge', {
    data: { kubeconfig: 'e31=' },
  });
  await until('engaged anew', () => syncers.transport('east') === next);
});

test.each([
  ['answers 401', async () => unauthorized()],
  ['answers nothing', () => Promise.reject(new TransportError('ECONNREFUSED', 'no'))],
])(
  'new credentials are found without being told of, where the old ones get an API that %s',
  async (_what, old) => {
    const { transport } = physicals.get('east')!;
    let isOld = false;
    const first: Transport = (request) => (isOld ? old() : transport(request));
    physicals.set('east', { transport: first, client: new Client(first) });
    await register('east');
    await until('ready', async () => (await ready('east')) === 'True');
    isDeaf = true;
    isOld = true;
    physicals.set('east', { transport, client: new Client(transport) });
    await client.patch(secrets, { namespace: 'default', name: 'east' }, 'merge', {
      data: { kubeconfig: 'e31=' },
    });
    await until('engaged anew', () => syncers.transport('east') === transport);
    await until('ready', async () => (await ready('east')) === 'True');
  },
  60_000,
);

test('old credentials that stay are read again seldom', async () => {
  const { transport } = physicals.get('east')!;
  let isOld = false;
  let refused = 0;
  const first: Transport = async (request) => {
    if (!isOld) return await transport(request);
    refused += 1;
    return unauthorized();
  };
  physicals.set('east', { transport: first, client: new Client(first) });
  await register('east');
  await until('ready', async () => (await ready('east')) === 'True');
  asked.splice(0);
  isOld = true;
  await until('it is refused often', () => refused > 20);
  expect(asked.filter((one) => one.endsWith('/secrets/east')).length).toBeLessThanOrEqual(1);
});

function unauthorized(): ApiResponse {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 401, reason: 'Unauthorized' };
  return {
    status: 401,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(status)),
  };
}
