import { setMaxListeners } from 'node:events';
import { type Server, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { ApiServer, Listening } from '../../apiserver/options.ts';
import { createApiServer } from '../../apiserver/server.ts';
import { controllersUser, physicalClusters, rootCluster, servingUser } from '../../cluster/names.ts';
import { openPipe } from '../../storage/pipe/pipe.ts';
import type { Store } from '../../storage/store.ts';
import { apiOptions } from '../api.ts';
import { loadAuthentication } from '../authentication/load.ts';
import { loadAuthorization } from '../authorization/load.ts';
import { systemClient } from '../client.ts';
import { loadEncryption } from '../encryption.ts';
import { boundGarbage, gatherWhileBusy } from '../heap.ts';
import { loadIdentity } from '../identity.ts';
import { Asking } from '../limits.ts';
import { jsonLogger, logProcess } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { Relay } from '../metrics/relay.ts';
import { ProfilesBeside } from '../profiling/beside.ts';
import { loadRecorders, type Recorders } from '../recorders.ts';
import { type SyncerManager, startSyncerManager } from '../syncers.ts';
import { TakenFiles } from '../taken-files.ts';
import { gauge } from './gauge.ts';
import { type Order, type Report, storeDescriptor } from './messages.ts';

/*
 * The program of a process that serves requests beside the one that was started, which has the store and the
 * controllers. It lives no longer than that one.
 */

const reachMs = 5_000;

// A terminal's Ctrl-C goes to all: the first process says when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));
let serving: Promise<(order: Order) => Promise<void>> | undefined;
let receive: (socket: Server) => void;
const socket = new Promise<Server>((resolve) => {
  receive = resolve;
});
process.on('message', async (said: Order, received: Server) => {
  if (said.order === 'serve') serving = serve(said);
  else if (said.order === 'listen') receive(received);
  // What is told while it starts waits.
  else await (await serving)?.(said);
});

type Serve = Extract<Order, { order: 'serve' }>;

/** Answers what does as it is told. */
async function serve({ settings, texts, tls }: Serve): Promise<(order: Order) => Promise<void>> {
  boundGarbage();
  gatherWhileBusy();
  const logger = jsonLogger(settings.logLevel);
  logProcess(logger);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const loading = { settings, files: new TakenFiles(texts), logger, signal: stop.signal };
  const stored = await openPipe(new Socket({ fd: storeDescriptor }));
  const encryption = await loadEncryption(loading);
  const store = encryption.over(stored);
  const identity = await loadIdentity(store, settings.listen.host, settings.dataDir);
  let syncers: SyncerManager | undefined;
  const authentication = await loadAuthentication(loading);
  const authorizers = await loadAuthorization(loading);
  const metrics = new Metrics();
  metrics.add(encryption.families);
  const recorders = await loadRecorders({ ...loading, part: 'serving', metrics });
  const asking = new Asking(settings, (id, question) => report({ report: 'asked', id, question }));
  const relay = new Relay(metrics, (question) => report({ report: 'scraped', ...question }));
  const profiles = new ProfilesBeside(report);
  const server: ApiServer = createApiServer(
    apiOptions({
      ...loading,
      store,
      stored,
      identity,
      authentication,
      authorizers,
      ...recorders,
      encryption,
      syncers: () => syncers,
      scheduling: () => systemClient(server, controllersUser),
      metrics,
      page: (accept, only) => relay.page(accept, only),
      profile: (question) => profiles.take(question),
      gate: asking.gate,
    }),
  );
  if (settings.controllers === 'all') {
    syncers = startSyncerManager({
      server,
      store,
      signal: stop.signal,
      logger,
      settings,
      leads: false,
      metrics,
    });
    await untilReached(server, syncers);
  }
  const listening = await server.listen({ socket: prepared, tls });
  report({ report: 'ready' });
  tellLoad(listening);
  return async (said) => {
    if (said.order === 'show') listening.show(said.tls);
    if (said.order === 'shed') listening.shed(said.share);
    if (said.order === 'among') server.among(said.processes);
    if (said.order === 'drain') server.drain();
    if (said.order === 'measure') report({ report: 'measured', families: await metrics.families() });
    if (said.order === 'told') asking.told(said);
    if (said.order === 'profile' || said.order === 'profiled') await profiles.told(said);
    if (said.order === 'page') relay.answered(said.id, said.page);
    if (said.order === 'stop') await end({ stop, server, recorders, store, metrics });
  };
}

async function end(parts: {
  stop: AbortController;
  server: ApiServer;
  recorders: Recorders;
  store: Store;
  metrics: Metrics;
}): Promise<void> {
  const { stop, server, recorders, store, metrics } = parts;
  stop.abort();
  await server.stopListening();
  report({ report: 'deaf' });
  await server.close();
  await recorders.close();
  await store.close();
  // What it counted since it was asked last is not to be lost.
  const families = await metrics.families();
  await new Promise((sent) => process.send?.({ report: 'measured', families } satisfies Report, sent));
  process.exit(0);
}

/** Of the physical clusters that can be reached; those that cannot are not waited for. */
async function untilReached(server: ApiServer, { reaches }: SyncerManager): Promise<void> {
  const client = systemClient(server, servingUser, rootCluster);
  const { items } = await client.list(physicalClusters);
  const deadline = Date.now() + reachMs;
  while (Date.now() < deadline && !items.every(({ metadata }) => reaches(metadata.name ?? '')))
    await setTimeout(20);
}

function prepared(): Promise<Server> {
  report({ report: 'prepared' });
  return socket;
}

function tellLoad(listening: Listening): void {
  const load = gauge(listening);
  setInterval(() => report({ report: 'load', load: load() }), 1000);
}

function report(said: Report): void {
  process.send?.(said);
}
