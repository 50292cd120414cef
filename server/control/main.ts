import { setMaxListeners } from 'node:events';
import { Socket } from 'node:net';
import { createApiServer } from '../../apiserver/server.ts';
import { openPipe } from '../../storage/pipe/pipe.ts';
import { apiOptions } from '../api.ts';
import { startControllers } from '../controllers.ts';
import { loadEncryption } from '../encryption.ts';
import { boundGarbage, gatherWhileBusy } from '../heap.ts';
import { loadIdentity } from '../identity.ts';
import { jsonLogger, logProcess } from '../log.ts';
import { joinServers } from '../members.ts';
import { Metrics } from '../metrics/metrics.ts';
import { Profiler } from '../profiling/profiler.ts';
import { loadRecorders } from '../recorders.ts';
import { type SyncerManager, startSyncerManager } from '../syncers.ts';
import { TakenFiles } from '../taken-files.ts';
import { isGuessed } from './guessed.ts';
import { type Order, type Report, storeDescriptor } from './messages.ts';

/*
 * The program of the process that has the controllers and syncers, beside the first one, which has the store and answers
 * users. It lives no longer than that one.
 */

// A terminal's Ctrl-C goes to all: the first process says when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));
const stop = new AbortController();
setMaxListeners(0, stop.signal);
const metrics = new Metrics();
const profiler = new Profiler();
process.on('message', async (said: Order) => {
  if (said.order === 'answer') await report('here');
  else if (said.order === 'measure') await report({ families: await metrics.families() });
  else if (said.order === 'profile')
    await report({ id: said.id, profiled: await profiler.take(said.question) });
  else if (said.order === 'stop') stop.abort();
  else await control(said);
});
// From now on it answers.
void report('here');

/** Ends the process when it was told to stop and everything that was begun has ended. */
async function control({
  settings,
  texts,
  rootCa,
  url,
}: Extract<Order, { order: 'control' }>): Promise<void> {
  boundGarbage();
  gatherWhileBusy();
  const logger = jsonLogger(settings.logLevel);
  logProcess(logger);
  const { signal } = stop;
  const files = new TakenFiles(texts);
  const stored = await openPipe(new Socket({ fd: storeDescriptor }), { keeps: isGuessed });
  const encryption = await loadEncryption({ settings, files, logger, signal });
  metrics.add(encryption.families);
  const store = encryption.over(stored);
  const identity = await loadIdentity(store, settings.listen.host, settings.dataDir);
  let syncers: SyncerManager | undefined;
  const recorders = await loadRecorders({ settings, files, part: 'control', logger, metrics });
  const server = createApiServer(
    apiOptions({
      store,
      stored,
      settings,
      identity,
      logger,
      ...recorders,
      syncers: () => syncers,
      metrics,
    }),
  );
  const { controllers, settleSeconds } = settings;
  const members = joinServers({ server, settings, signal, logger });
  syncers = startSyncerManager({ server, store, signal, logger, settings, leads: true, members, metrics });
  await startControllers({
    server,
    store,
    signal,
    logger,
    rootCa,
    accountKeys: identity.accountKeys,
    signClient: identity.signClient,
    url: () => url,
    settleMs: settleSeconds * 1000,
    controllers,
    members,
    metrics,
  });
  if (!signal.aborted) throw new Error('the controllers stopped');
  await syncers.stopped;
  await members?.stopped;
  await server.close();
  await recorders.close();
  await store.close();
  // What it counted since it was asked last is not to be lost.
  await report({ families: await metrics.families() });
  process.exit(0);
}

function report(said: Report): Promise<unknown> {
  return new Promise((sent) => process.send?.(said, sent));
}
