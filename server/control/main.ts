import { setMaxListeners } from 'node:events';
import { Socket } from 'node:net';
import { createApiServer } from '../../apiserver/server.ts';
import { openPipe } from '../../storage/pipe/pipe.ts';
import { apiOptions } from '../api.ts';
import { startControllers } from '../controllers.ts';
import { boundGarbage, gatherWhileBusy } from '../heap.ts';
import { loadIdentity } from '../identity.ts';
import { jsonLogger, logProcess } from '../log.ts';
import { type SyncerManager, startSyncerManager } from '../syncers.ts';
import { type Order, storeDescriptor } from './messages.ts';

/*
 * The program of the process that has the controllers and syncers, beside the first one, which has the store and answers
 * users. It lives no longer than that one.
 */

// A terminal's Ctrl-C goes to all: the first process says when to stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));
const stop = new AbortController();
setMaxListeners(0, stop.signal);
process.on('message', async (said: Order) => {
  if (said.order === 'answer') process.send?.('here');
  else if (said.order === 'stop') stop.abort();
  else await control(said);
});

/** Ends the process when it was told to stop and everything that was begun has ended. */
async function control({ settings, rootCa, url }: Extract<Order, { order: 'control' }>): Promise<void> {
  boundGarbage();
  gatherWhileBusy();
  const logger = jsonLogger(settings.logLevel);
  logProcess(logger);
  const { signal } = stop;
  const store = await openPipe(new Socket({ fd: storeDescriptor }));
  const identity = await loadIdentity(store, settings.listen.host, settings.dataDir);
  let syncers: SyncerManager | undefined;
  const server = createApiServer(apiOptions({ store, settings, identity, logger, syncers: () => syncers }));
  const { controllers, settleSeconds } = settings;
  syncers = startSyncerManager({ server, store, signal, logger, settings, leads: true });
  await startControllers({
    server,
    store,
    signal,
    logger,
    rootCa,
    accountKeys: identity.accountKeys,
    url: () => url,
    settleMs: settleSeconds * 1000,
    controllers,
  });
  if (!signal.aborted) throw new Error('the controllers stopped');
  await syncers.stopped;
  await server.close();
  await store.close();
  process.exit(0);
}
