import type { ApiServer } from '../apiserver/options.ts';
import { controllersUser, rootCluster } from '../cluster/names.ts';
import { ensureSystemNamespaces } from '../controller/namespace/furnish.ts';
import type { Logger } from '../kube/log.ts';
import type { Store } from '../storage/store.ts';
import { systemClient } from './client.ts';
import { ControlProcess } from './control/process.ts';
import { startControllers } from './controllers.ts';
import type { Identity } from './identity.ts';
import { joinServers } from './members.ts';
import type { Counting } from './metrics/start.ts';
import type { Settings } from './settings.ts';
import { type SyncerManager, startSyncerManager } from './syncers.ts';
import type { TakenFiles } from './taken-files.ts';

/** What goes on beside the requests. */
export interface Behind {
  syncers: SyncerManager | undefined;
  /** Resolves when everything has ended, after `stop` aborted. */
  stopped(): Promise<unknown>;
}

/** The controllers and syncers: in a process of their own, or in this one. */
export async function controlled(parts: {
  server: ApiServer;
  store: Store;
  stored: Store;
  settings: Settings;
  files: TakenFiles;
  identity: Identity;
  logger: Logger;
  url: string;
  rootCa: string;
  stop: AbortController;
  counting: Counting;
}): Promise<Behind> {
  const { server, store, settings, logger, url, rootCa } = parts;
  const { metrics, scraper, profiles } = parts.counting;
  const { signal } = parts.stop;
  const all = settings.controllers === 'all';
  const apart = all && settings.controllersProcess;
  renewDefaultRoles(server, logger, signal);
  const leads = all && !apart;
  const members = leads ? joinServers({ server, settings, signal, logger }) : undefined;
  const syncers = all
    ? startSyncerManager({ server, store, signal, logger, settings, leads, members, metrics })
    : undefined;
  if (apart) {
    // They are there when a server says that it is ready; a process takes half a second to start.
    await ensureSystemNamespaces(systemClient(server, controllersUser), rootCluster);
    const process = new ControlProcess({
      store: parts.stored,
      settings,
      files: parts.files,
      rootCa,
      url,
      logger,
      scraper,
      profiles,
    });
    return { syncers, stopped: () => Promise.allSettled([process.stop(), syncers?.stopped]) };
  }
  const running = startControllers({
    server,
    store,
    signal,
    logger,
    rootCa,
    accountKeys: parts.identity.accountKeys,
    signClient: parts.identity.signClient,
    url: () => url,
    settleMs: settings.settleSeconds * 1000,
    controllers: settings.controllers,
    members,
    metrics,
  }).catch((err: unknown) => {
    if (!signal.aborted) logger.error({ err }, 'the controllers stopped');
  });
  const stopped = () => Promise.allSettled([running, syncers?.stopped, members?.stopped]);
  return { syncers, stopped };
}

/** Beside all else: nobody waits for what a new version's default roles have more. */
function renewDefaultRoles(server: ApiServer, logger: Logger, signal: AbortSignal): void {
  server.renewDefaultRoles().then(
    (kinds) => kinds > 0 && logger.info({ kinds }, 'default roles were brought up to date'),
    (err: unknown) =>
      signal.aborted || logger.error({ err }, 'default roles could not be brought up to date'),
  );
}
