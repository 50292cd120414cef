import { setMaxListeners } from 'node:events';
import { ownUser } from '../../apiserver/authn/controllers.ts';
import type { ApiServer } from '../../apiserver/options.ts';
import { createApiServer } from '../../apiserver/server.ts';
import { syncerUser } from '../../apiserver/view/view.ts';
import { registerCluster } from '../../cli/cluster.ts';
import { Client } from '../../client/client.ts';
import { InformerSet } from '../../client/informers.ts';
import {
  controllersUser,
  rootCluster,
  schedulerUser,
  splitterUser,
  syncerManagerUser,
} from '../../cluster/names.ts';
import { runDisruptionController } from '../../controller/disruption/controller.ts';
import { runEndpointsController } from '../../controller/endpoints/controller.ts';
import { startGenericControllers } from '../../controller/generic.ts';
import type { Term } from '../../controller/leader.ts';
import { ensureSystemNamespaces } from '../../controller/namespace/furnish.ts';
import { runWorkspaceController } from '../../controller/workspace/controller.ts';
import { type Logger, silentLogger } from '../../kube/log.ts';
import { startScheduler } from '../../scheduler/controller.ts';
import { apiOptions } from '../../server/api.ts';
import { systemClient } from '../../server/client.ts';
import { adminUser, type Identity } from '../../server/identity.ts';
import { resolveSettings } from '../../server/settings.ts';
import { startUnservedCluster, type UnservedCluster } from '../../sim/cluster.ts';
import { runCopier } from '../../sim/volumes/copier.ts';
import type { Begin } from '../../splitter/begin.ts';
import { startSplitter } from '../../splitter/controller.ts';
import { openMemory } from '../../storage/memory/memory.ts';
import { runDepartures } from '../../syncer/departure.ts';
import { runLost } from '../../syncer/lost.ts';
import { startSyncers } from '../../syncer/manager.ts';
import { runSilence } from '../../syncer/silence.ts';
import { Random } from '../fault/random.ts';
import { Component, type Host } from './component.ts';
import type { History } from './history.ts';
import { Liar } from './liar.ts';
import type { Wire } from './wire.ts';

/** Pods take seconds, as on real clusters. */
const behaviours = [
  {
    name: 'slow',
    scheduledAfterMs: [20, 400],
    readyAfterMs: [300, 6000],
    stopsAfterMs: [100, 4000],
  },
] as const;

/**
 * Atoll's real API, scheduler, splitter, syncers and views on a store in memory, and simulated clusters, each component
 * behind a wire of its own. Runs in virtual time only.
 */
export interface World {
  /** The administrator's, in the logical cluster root; without a wire. */
  admin: Client;
  /** By name: scheduler, splitter and syncers/<cluster>. */
  components: ReadonlyMap<string, Component>;
  clusters: ReadonlyMap<string, UnservedCluster>;
  /** By cluster, what it says of itself that is not so. */
  liars: ReadonlyMap<string, Liar>;
  /** Whether the copier fails now and then. */
  copier: { fails: boolean };
  end(): void;
}

export async function startWorld(parts: {
  names: readonly string[];
  endpoints?: History['endpoints'];
  identity: Identity;
  random: Random;
  seed: number;
  logger?: Logger;
}): Promise<World> {
  const { names, identity, random, seed, logger = silentLogger } = parts;
  const store = openMemory();
  const settings = resolveSettings({ dataDir: '/nowhere' }, undefined, {});
  const server = createApiServer(apiOptions({ store, settings, identity, logger, syncers: () => undefined }));
  const life = new AbortController();
  const { signal } = life;
  setMaxListeners(0, signal);
  const host: Host = { store, random, logger, signal };
  const clusters = new Map<string, UnservedCluster>();
  for (const [i, name] of names.entries()) {
    const lag = Object.entries(parts.endpoints ?? {}).find(([cluster]) => cluster === name)?.[1];
    const endpoints = lag === undefined ? {} : { endpointsAfterMs: lag };
    const options = { name, nodes: 2, behaviours, seed: seed + i, logger, ...endpoints };
    clusters.set(name, await startUnservedCluster(options));
  }
  const liars = new Map(names.map((name) => [name, new Liar(random)]));
  const admin = new Client(server.transport(adminUser), { cluster: rootCluster });
  void runRest(server, signal, logger);
  const components = new Map<string, Component>();
  const add = (
    name: string,
    lead: (term: Term, wire: Wire) => Promise<void>,
    lease: string = name,
  ): Component => {
    const component = new Component(name, host, lead, lease);
    components.set(name, component);
    return component;
  };
  const common = (term: Term, wire: Wire, user: string) => ({
    client: over(server, user, wire, term),
    informers: new InformerSet(over(server, controllersUser, wire, term), {
      cluster: '*',
      signal: term.signal,
      logger,
    }),
    signal: term.signal,
    logger,
  });
  let begin: Begin | undefined;
  const schedules = (term: Term, wire: Wire) =>
    startScheduler({
      ...common(term, wire, schedulerUser),
      reader: over(server, controllersUser, wire, term),
      begin: (cluster, placement) => begin?.(cluster, placement),
    });
  const splits = (term: Term, wire: Wire) => {
    // The one and the other may be seeing different things, and either may have been replaced.
    const begins = (how: Begin) => {
      begin = how;
    };
    return startSplitter({ ...common(term, wire, splitterUser), begins });
  };
  for (const component of [
    add('scheduler', schedules),
    add('splitter', splits),
    add('scheduler/standby', schedules, 'scheduler'),
    add('splitter/standby', splits, 'splitter'),
  ])
    void component.run(signal);
  startSyncers({
    client: systemClient(server, syncerManagerUser, rootCluster),
    transportFor:
      async ({ metadata: { name = '' } }) =>
      (request) => {
        const to = clusters.get(name)?.transport;
        const wire = components.get(`syncers/${name}`)?.wire;
        if (!to || !wire) throw new Error(`nobody simulates ${name}`);
        return wire.wrap(liars.get(name)?.wrap(to) ?? to)(request);
      },
    upstreamFor: (name, { fence }) => {
      const transport = server.transport(syncerUser(name), fence);
      const wire = components.get(`syncers/${name}`)?.wire;
      return new Client(wire?.wrap(transport) ?? transport, { prefix: `/syncers/${name}` });
    },
    elect: (name, lead, ending) => add(`syncers/${name}`, lead).run(ending),
    signal,
    logger,
  });
  for (const name of names) await registerCluster(admin, name, 'simulated');
  const copier = runFailingCopier({ server, clusters, random: new Random(seed, 6), signal, logger });
  return { admin, components, clusters, liars, copier, end: () => life.abort(new Error('the world ends')) };
}

/** Half of what is asked for it copies. */
function runFailingCopier(of: {
  server: ApiServer;
  clusters: ReadonlyMap<string, UnservedCluster>;
  random: Random;
  signal: AbortSignal;
  logger: Logger;
}): { fails: boolean } {
  const { server, clusters, random, signal, logger } = of;
  const copier = { fails: true };
  void runCopier({
    name: 'simulated',
    client: new Client(server.transport(adminUser), { cluster: '*' }),
    informers: new InformerSet(systemClient(server, controllersUser), { cluster: '*', signal, logger }),
    clusterOf: (name) => clusters.get(name)?.client,
    halfMs: () => random.between(50, copier.fails ? 15_000 : 500),
    faultOf: () =>
      copier.fails && random.chance(0.4) ? random.pick(['fail', 'lie', 'crash'] as const) : undefined,
    signal,
    logger,
  });
  return copier;
}

function over(server: ApiServer, user: string, wire: Wire, { fence }: Term): Client {
  return new Client(wire.wrap(server.transport(ownUser(user), fence)), { cluster: '*', userAgent: user });
}

/** What else runs behind the API, as server/controllers.ts starts it; it never dies here. */
async function runRest(server: ApiServer, signal: AbortSignal, logger: Logger): Promise<void> {
  const client = systemClient(server, controllersUser);
  await ensureSystemNamespaces(client, rootCluster, signal);
  const informers = new InformerSet(client, { cluster: '*', signal, logger });
  const base = { client, informers, signal, logger };
  await Promise.all([
    startGenericControllers({ ...base, rootCa: '' }),
    runEndpointsController(base),
    runDisruptionController(base),
    runWorkspaceController({ ...base, url: () => '' }),
    runDepartures({
      ...base,
      viewOf: (name) => new Client(server.transport(syncerUser(name)), { prefix: `/syncers/${name}` }),
    }),
    runSilence({ ...base, client: client.with({ cluster: rootCluster }) }),
    runLost(base),
  ]);
}
