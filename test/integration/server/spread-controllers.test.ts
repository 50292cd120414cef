import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApiServer } from '../../../apiserver/server.ts';
import { Client } from '../../../client/client.ts';
import { shardCount, shardOf } from '../../../controller/shards.ts';
import { silentLogger } from '../../../kube/log.ts';
import { apiOptions } from '../../../server/api.ts';
import { startControllers } from '../../../server/controllers.ts';
import { adminUser, loadIdentity } from '../../../server/identity.ts';
import { resolveSettings } from '../../../server/settings.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import type { Store } from '../../../storage/store.ts';
import { deployment, find, resources, until } from '../../world/objects.ts';

const leases = [
  'scheduler',
  'controllers',
  ...Array.from({ length: shardCount }, (_, n) => `controllers-shard-${n}`),
];

interface Write {
  server: string;
  lease: string;
  verb: string;
  key: string;
}

/** Two of them on one store, as processes have it but for the pipe; whose turn it is the test says. */
let store: Store;
let life: AbortController;
let owner: Map<string, string>;
let held: Map<string, string>;
let writes: Write[];
let one: Server;
let two: Server;
let admin: Client;
let clusters: string[];

interface Server {
  /** The ranges that it watches of the store. */
  watched: string[];
  client: Client;
  stop(): Promise<void>;
}

/** The same store, as one server uses it. */
function noted(id: string, watched: string[]): Store {
  const write =
    (verb: 'create' | 'update' | 'delete') =>
    // biome-ignore lint/suspicious/noExplicitAny: of three signatures
    (key: string, ...rest: any[]) => {
      const { holding } = rest.at(-1) ?? {};
      // biome-ignore lint/suspicious/noExplicitAny: of three signatures
      const made = (store[verb] as any)(key, ...rest);
      if (holding)
        made.then(() => writes.push({ server: id, lease: holding.name, verb, key })).catch(() => {});
      return made;
    };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'create' || name === 'update' || name === 'delete') return write(name);
      if (name === 'watch')
        return async (...[range, options]: Parameters<Store['watch']>) => {
          watched.push(range.start);
          const end = () => watched.splice(watched.indexOf(range.start), 1);
          options.signal?.addEventListener('abort', end, { once: true });
          return await target.watch(range, options);
        };
      if (name === 'acquire')
        return async (...[lease, ttl]: Parameters<Store['acquire']>) => {
          const got = await target.acquire(lease, ttl);
          if (got) held.set(lease, id);
          return (
            got && {
              ...got,
              release: async () => {
                if (held.get(lease) === id) held.delete(lease);
                await got.release();
              },
            }
          );
        };
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function start(id: string): Promise<Server> {
  const watched: string[] = [];
  const own = noted(id, watched);
  const dataDir = '/nowhere';
  const identity = await loadIdentity(own, '127.0.0.1', dataDir);
  const settings = resolveSettings({ dataDir }, undefined, {});
  const logger = silentLogger;
  const server = createApiServer(
    apiOptions({ store: own, settings, identity, logger, syncers: () => undefined }),
  );
  const done = startControllers({
    server,
    store: own,
    signal: life.signal,
    logger,
    settleMs: 100,
    silentMs: 600_000,
    controllers: 'all',
    rootCa: identity.ca,
    accountKeys: identity.accountKeys,
    signClient: identity.signClient,
    url: () => '',
    members: { id, isMine: (name) => owner.get(name) === id, stopped: Promise.resolve() },
  });
  const client = new Client(server.transport(adminUser), { cluster: 'root' });
  const stop = async () => {
    await done;
    await server.close();
  };
  return { watched, client, stop };
}

beforeEach(async () => {
  store = openMemory();
  life = new AbortController();
  setMaxListeners(0, life.signal);
  writes = [];
  held = new Map();
  owner = new Map(leases.map((lease, i) => [lease, i % 2 === 0 ? 'one' : 'two']));
  [one, two] = [await start('one'), await start('two')];
  admin = one.client;
  await until('all are led', () => held.size === leases.length);
  await admin.create(resources.physicalclusters, {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PhysicalCluster',
    metadata: { name: 'east' },
    spec: { kubeconfigSecretRef: { namespace: 'default', name: 'east' } },
  });
  // As its syncer says.
  const lastTransitionTime = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Heard', message: '', lastTransitionTime };
  const status = { lastHeartbeatTime: lastTransitionTime, conditions: [ready] };
  await admin.patch(resources.physicalclusters, { name: 'east', subresource: 'status' }, 'merge', { status });
  clusters = ['root'];
  for (let n = 0; new Set(clusters.map(shardOf)).size < shardCount; n++)
    clusters.push(await workspace(`w${n}`));
});
afterEach(async () => {
  life.abort();
  await Promise.all([one.stop(), two.stop()]);
  await store.close();
});

/** The id of its logical cluster, once that is there. */
async function workspace(name: string): Promise<string> {
  const object = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name } };
  await admin.create(resources.workspaces, object);
  const ready = await until(`workspace ${name}`, async () => {
    const found = await find(admin, resources.workspaces, name, '');
    return (found?.['status'] as { phase?: string } | undefined)?.phase === 'Ready' ? found : undefined;
  });
  return (ready.spec as { cluster?: string }).cluster ?? '';
}

/** In each logical cluster: a namespace gets what each has, a Deployment is placed and split, what has lost its owner goes. */
async function work(what: string): Promise<void> {
  const map = (name: string, more = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: what, ...more },
  });
  for (const cluster of clusters) {
    const there = admin.with({ cluster });
    await there.create(resources.namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: what },
    });
    const web = deployment('web', 2, 'east');
    await there.create(resources.deployments, { ...web, metadata: { ...web.metadata, namespace: what } });
    const { uid = '' } = (await there.create(resources.configmaps, map('owner'))).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await there.create(resources.configmaps, map('owned', { ownerReferences }));
    await there.delete(resources.configmaps, { namespace: what, name: 'owner' });
  }
  for (const cluster of clusters) {
    const there = admin.with({ cluster });
    await until(
      `what is owned in ${cluster} goes`,
      async () => !(await find(there, resources.configmaps, 'owned', what)),
    );
    await until(`an account in ${cluster}`, () => find(there, resources.serviceaccounts, 'default', what));
    await until(`shares in ${cluster}`, async () => {
      const placed = await find(there, resources.placements, 'web.deployments.apps', what);
      return Object.keys((placed?.spec as { shares?: object } | undefined)?.shares ?? {}).length === 1;
    });
  }
}

/** The last one for the collector alone, which keeps of it what it needs. */
const kinds = [
  '/core/configmaps/',
  '/atoll.dev/placements/',
  '/apps/deployments/',
  '/coordination.k8s.io/leases/',
];
const once = kinds.map(() => 1);

/** How often it watches each of them, whoever of its parts looks at it. */
function watches({ watched }: Server): number[] {
  return kinds.map((kind) => watched.filter((range) => range === kind).length);
}

/** What was written of objects in one of these namespaces of logical clusters. */
const writesIn = (what: string) =>
  writes.flatMap((write) => {
    const cluster = clusters.find((one) => write.key.includes(`/${one}/${what}/`));
    return cluster === undefined ? [] : [{ ...write, cluster }];
  });

test('each does its part, once; what another takes over goes on there, and nothing of it is left', async () => {
  await work('first');
  const first = writesIn('first');
  for (const { server, lease, cluster, key } of first) {
    expect(owner.get(lease), `${lease} ${key}`).toBe(server);
    const expected = lease === 'scheduler' ? 'scheduler' : `controllers-shard-${shardOf(cluster)}`;
    expect(lease, key).toBe(expected);
  }
  expect(new Set(first.map(({ lease }) => lease)).size).toBe(1 + shardCount);
  for (const part of ['configmaps/.*/owned', 'serviceaccounts/.*/default', 'placements/.*/web[^/]*']) {
    const some = first.filter(({ verb, key }) => verb !== 'update' && new RegExp(`/${part}$`).test(key));
    expect(some.map(({ cluster }) => cluster).sort(), part).toEqual([...clusters].sort());
  }
  expect([one, two].map(watches)).toEqual([once, once]);
  for (const lease of leases) owner.set(lease, 'one');
  await until('one leads all', () => leases.every((lease) => held.get(lease) === 'one'));
  await work('second');
  for (const { server, lease, cluster, key } of writesIn('second')) {
    expect(server, key).toBe('one');
    expect(['scheduler', `controllers-shard-${shardOf(cluster)}`]).toContain(lease);
  }
  expect(watches(one)).toEqual(once);
  await until('two watches nothing for them', () => kinds.every((kind) => !two.watched.includes(kind)));
  for (const lease of leases.slice(0, 6)) owner.set(lease, 'two');
  await until('two has a part again', () => leases.slice(0, 6).every((lease) => held.get(lease) === 'two'));
  await work('third');
  for (const { server, lease, key } of writesIn('third')) expect(server, key).toBe(owner.get(lease));
});
