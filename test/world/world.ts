import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiServer } from '../../apiserver/options.ts';
import { createApiServer } from '../../apiserver/server.ts';
import { syncerUser } from '../../apiserver/view/view.ts';
import { registerCluster } from '../../cli/cluster.ts';
import { Client } from '../../client/client.ts';
import { transportFromKubeconfig } from '../../client/kubeconfig.ts';
import { controllersUser, rootCluster, syncerManagerUser } from '../../cluster/names.ts';
import { runLeader } from '../../controller/leader.ts';
import type { Transport, UserInfo } from '../../kube/http.ts';
import { type Logger, silentLogger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { apiOptions } from '../../server/api.ts';
import type { LoadedAudit } from '../../server/audit/load.ts';
import { systemClient } from '../../server/client.ts';
import { startControllers } from '../../server/controllers.ts';
import { adminUser, type Identity, loadIdentity, tlsOf } from '../../server/identity.ts';
import { adminKubeconfig } from '../../server/kubeconfig.ts';
import { writePrivate } from '../../server/private-file.ts';
import type { LogLevel } from '../../server/setting-table.ts';
import { resolveSettings } from '../../server/settings.ts';
import type { SyncerManager } from '../../server/syncers.ts';
import { type SimulatedCluster, startSimulatedCluster } from '../../sim/cluster.ts';
import type { Behaviour } from '../../sim/pods/behaviour.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import type { Store } from '../../storage/store.ts';
import { type Syncers, startSyncers } from '../../syncer/manager.ts';
import { Faults } from './faults.ts';
import { isReady, until } from './objects.ts';

export interface WorldOptions {
  /** Physical clusters that are simulated and registered; default east and west. */
  clusters?: readonly string[];
  nodes?: number;
  behaviours?: readonly Behaviour[];
  /** Default 100. */
  settleMs?: number;
  /** What a copy with traffic is drained for where it does not say so itself; default 100. */
  drainMs?: number;
  /** After how long without a word a cluster is silent; default 4000. Syncers tell of themselves each 200 ms. */
  silentMs?: number;
  /** For how long a forgotten cluster may take to give up our namespaces; default 30 seconds. */
  forgetMs?: number;
  /** Default a memory store, which `stop` closes. */
  store?: Store;
  logger?: Logger;
  logLevel?: LogLevel;
  audit?: LoadedAudit;
  /** Between the controllers and the API. */
  controllersWire?: (transport: Transport) => Transport;
}

/** A physical cluster: a simulated Kubernetes of its own, and the wire to it. */
export interface Physical extends SimulatedCluster {
  /** On the way from the syncer (and from logs, exec ...) to this cluster's API. */
  faults: Faults;
  /** On the way from the syncer to its view. */
  upstream: Faults;
}

/**
 * Atoll whole in one process, as `atoll start` wires it: the real ladder, admission, registry, view, controllers and
 * syncers on a store in memory, with simulated physical clusters behind real TLS. Only the wires can be made to fail.
 */
export interface World {
  server: ApiServer;
  store: Store;
  /** The administrator's, in the logical cluster root. */
  admin: Client;
  /** Anybody's: `*` reads across all logical clusters. */
  as(user: UserInfo, cluster?: string): Client;
  /** The wire below it. */
  transport(user: UserInfo): Transport;
  physical(name: string): Physical;
  /** Simulates another physical cluster, without registering it. */
  simulate(name: string): Promise<Physical>;
  /** As `atoll cluster add` does. */
  register(name: string): Promise<void>;
  /** Ends the controllers in the middle of what they do and starts them again, as a kill of their leader would. */
  restartControllers(): Promise<void>;
  /** Listens on loopback and writes the administrator's kubeconfig, for real kubectl; the file's path. */
  listen(): Promise<string>;
  stop(): Promise<void>;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const {
    clusters = ['east', 'west'],
    settleMs = 100,
    drainMs = 100,
    silentMs = 4000,
    logger = silentLogger,
    audit,
    logLevel = 'info',
  } = options;
  const store = options.store ?? openMemory();
  const dataDir = await mkdtemp(join(tmpdir(), 'atoll-world-'));
  const identity = await loadIdentity(store, '127.0.0.1', dataDir);
  const life = new AbortController();
  setMaxListeners(0, life.signal);
  const { signal } = life;
  const physicals = new Map<string, Physical>();
  let syncers: Syncers | undefined;
  const manager = (): SyncerManager | undefined =>
    syncers && {
      ...syncers,
      reaches: (name) => syncers?.transport(name) !== undefined,
      credentialsUntil: () => undefined,
    };
  const settings = resolveSettings({ dataDir, egressAllow: '127.0.0.0/8', logLevel }, undefined, {});
  const profile = async () => ({ profile: '{}' });
  const scheduling = () => systemClient(server, controllersUser);
  const server: ApiServer = createApiServer(
    apiOptions({ store, settings, identity, logger, audit, syncers: manager, profile, scheduling }),
  );
  let url = 'https://127.0.0.1:0';
  const control = () =>
    abortable(signal, (ending) =>
      startControllers({
        server: over(server, options.controllersWire),
        store,
        signal: ending,
        logger,
        settleMs,
        drainMs,
        silentMs,
        rootCa: identity.ca,
        accountKeys: identity.accountKeys,
        signClient: identity.signClient,
        controllers: 'all',
        autoscaleMs: 200,
        url: () => url,
        ...(options.forgetMs !== undefined && { forgetMs: options.forgetMs }),
      }),
    );
  let controllers = control();
  const as = (user: UserInfo, cluster = rootCluster) => new Client(server.transport(user), { cluster });
  const admin = as(adminUser);
  syncers = runSyncers({ server, store, physicals, signal, logger });
  const simulate = async (name: string) => {
    const physical = await simulated(name, options);
    physicals.set(name, physical);
    return physical;
  };
  const world: World = {
    server,
    store,
    admin,
    as,
    transport: (user) => server.transport(user),
    simulate,
    physical: (name) => {
      const found = physicals.get(name);
      if (!found) throw new Error(`no physical cluster ${name} is simulated`);
      return found;
    },
    register: async (name) => {
      await registerCluster(admin, name, world.physical(name).kubeconfig);
    },
    restartControllers: async () => {
      await controllers.stop();
      controllers = control();
    },
    listen: async () => {
      ({ url } = await server.listen({ host: '127.0.0.1', port: 0, tls: tlsOf(identity) }));
      const file = join(dataDir, 'admin.kubeconfig');
      await writePrivate(file, adminKubeconfig(credentials(identity, url)));
      return file;
    },
    stop: async () => {
      for (const { faults, upstream } of physicals.values()) {
        faults.heal();
        upstream.heal();
      }
      life.abort(new Error('the world ends'));
      await Promise.allSettled([controllers.stop(), syncers?.stopped]);
      await server.close();
      await Promise.all([...physicals.values()].map((physical) => physical.stop()));
      if (!options.store) await store.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  await Promise.all(clusters.map(simulate));
  for (const name of clusters) await world.register(name);
  for (const name of clusters) await until(`${name} is ready`, () => isReady(admin, name));
  return world;
}

function over(server: ApiServer, wire: (transport: Transport) => Transport = (same) => same): ApiServer {
  return { ...server, transport: (user, holding) => wire(server.transport(user, holding)) };
}

/** Runs until `signal` aborts or it is stopped. */
function abortable(
  signal: AbortSignal,
  run: (ending: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const life = new AbortController();
  const ending = AbortSignal.any([signal, life.signal]);
  setMaxListeners(0, ending);
  const running = run(ending);
  return {
    stop: async () => {
      life.abort(new Error('stopped'));
      await Promise.allSettled([running]);
    },
  };
}

async function simulated(name: string, { nodes = 3, behaviours = [] }: WorldOptions): Promise<Physical> {
  const cluster = await startSimulatedCluster({ name, nodes, behaviours });
  return { ...cluster, faults: new Faults(), upstream: new Faults() };
}

/** As server/syncers.ts does, with faults on both wires, and quicker. */
function runSyncers(of: {
  server: ApiServer;
  store: Store;
  physicals: ReadonlyMap<string, Physical>;
  signal: AbortSignal;
  logger: Logger;
}): Syncers {
  const { server, store, physicals, signal, logger } = of;
  const client = systemClient(server, syncerManagerUser, rootCluster);
  return startSyncers({
    client,
    transportFor: async (cluster) => {
      const { name = '' } = cluster.metadata;
      const { namespace, name: secret } = cluster.spec?.kubeconfigSecretRef ?? { namespace: '', name: '' };
      const found = await client.get<KubeObject & { data?: Record<string, string> }>(secrets, {
        namespace,
        name: secret,
      });
      const text = Buffer.from(found.data?.['kubeconfig'] ?? '', 'base64').toString();
      const transport = await transportFromKubeconfig(text);
      return physicals.get(name)?.faults.wrap(transport) ?? transport;
    },
    upstreamFor: (name, { fence }) => {
      const transport = server.transport(syncerUser(name), fence);
      const faulty = physicals.get(name)?.upstream.wrap(transport) ?? transport;
      return new Client(faulty, { prefix: `/syncers/${name}`, userAgent: 'atoll-syncer' });
    },
    elect: (name, lead, ending) =>
      runLeader({ store, name: `syncers/${name}`, lead, signal: ending, logger, ttlMs: 1000 }),
    signal,
    logger,
    heartbeatMs: 200,
    namespaceDelayMs: 200,
  });
}

const secrets = { group: '', version: 'v1', resource: 'secrets' };

function credentials(identity: Identity, url: string) {
  const { certificate, privateKey } = identity.admin;
  return { server: url, ca: identity.ca, certificate, privateKey, token: identity.adminToken };
}
