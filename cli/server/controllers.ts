import type { ApiServer } from '../../apiserver/options.ts';
import { Client } from '../../client/client.ts';
import { InformerSet } from '../../client/informers.ts';
import { rootCluster, schedulerUser } from '../../cluster/names.ts';
import { startGenericControllers } from '../../controller/generic.ts';
import { ensureSystemNamespaces } from '../../controller/namespace/furnish.ts';
import { runWorkspaceController } from '../../controller/workspace/controller.ts';
import type { Logger } from '../../kube/log.ts';
import { startScheduler } from '../../scheduler/controller.ts';
import { startSplitter } from '../../splitter/controller.ts';

export interface ControllerSettings {
  server: ApiServer;
  signal: AbortSignal;
  logger: Logger;
  settleMs: number;
  rootCa: string;
  url: () => string;
}

/** A client of the API without a socket, as one of our own controllers, of all logical clusters. */
export function systemClient(server: ApiServer, name: string, cluster = '*'): Client {
  const user = { name, groups: ['system:masters', 'system:authenticated'] };
  return new Client(server.transport(user), { cluster, userAgent: name });
}

/**
 * Everything behind the API but the syncers. All of it goes through the ladder like anyone (invariant 12); one
 * watch per kind serves them all. Resolves when all have stopped, after `signal` aborted.
 */
export async function startControllers(settings: ControllerSettings): Promise<void> {
  const { server, signal, logger, rootCa } = settings;
  const client = systemClient(server, 'system:atoll:controllers');
  await ensureSystemNamespaces(client, rootCluster, signal);
  const informers = new InformerSet(client, { cluster: '*', signal, logger });
  const scheduler = systemClient(server, schedulerUser);
  const splitter = systemClient(server, 'system:atoll:splitter');
  await Promise.all([
    startGenericControllers({ client, informers, signal, logger, rootCa }),
    runWorkspaceController({ client, informers, signal, logger, url: settings.url }),
    startScheduler({ client: scheduler, informers, signal, logger }),
    startSplitter({ client: splitter, informers, signal, logger, settleMs: settings.settleMs }),
  ]);
}
