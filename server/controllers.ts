import { setMaxListeners } from 'node:events';
import type { TokenKeys } from '../apiserver/authn/keys.ts';
import { ServiceAccountTokens } from '../apiserver/authn/service-account.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { syncerUser } from '../apiserver/view/view.ts';
import { Client } from '../client/client.ts';
import { InformerSet } from '../client/informers.ts';
import { controllersUser, placements, rootCluster, schedulerUser, splitterUser } from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import { runPodAdmissionController } from '../controller/admission/controller.ts';
import { runRefusedRevisionController } from '../controller/admission/history.ts';
import { runDisruptionController } from '../controller/disruption/controller.ts';
import { runEndpointsController } from '../controller/endpoints/controller.ts';
import { startGenericControllers, startServerControllers } from '../controller/generic.ts';
import { runLeader, type Term } from '../controller/leader.ts';
import { ensureServiceRanges, ensureSystemNamespaces } from '../controller/namespace/furnish.ts';
import { runSigningController, type SignClient } from '../controller/signing/controller.ts';
import { slim } from '../controller/slim.ts';
import type { SignToken } from '../controller/tokens/controller.ts';
import { runTypeCheckController } from '../controller/typecheck/controller.ts';
import { runVolumesController } from '../controller/volumes/controller.ts';
import { runWorkspaceController } from '../controller/workspace/controller.ts';
import type { Logger } from '../kube/log.ts';
import { startScheduler } from '../scheduler/controller.ts';
import { startSplitter } from '../splitter/controller.ts';
import type { Store } from '../storage/store.ts';
import { runDepartures } from '../syncer/departure.ts';
import { runLost } from '../syncer/lost.ts';
import { runSilence } from '../syncer/silence.ts';
import { systemClient } from './client.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Controllers } from './settings.ts';

export interface ControllerSettings {
  server: ApiServer;
  store: Store;
  signal: AbortSignal;
  logger: Logger;
  settleMs: number;
  /** See SplitterOptions. */
  drainMs?: number;
  /** After how long without a word a physical cluster counts as silent; see runSilence. */
  silentMs?: number;
  /** For how long a forgotten physical cluster may take; see runDepartures. */
  forgetMs?: number;
  /** `api`: only what kube-apiserver does itself. */
  controllers: Controllers;
  rootCa: string;
  /** Of ServiceAccounts' tokens. */
  accountKeys: TokenKeys;
  /** Of client certificates. */
  signClient: SignClient;
  url: () => string;
  metrics?: Metrics;
}

/**
 * Everything behind the API but the syncers, while this server is the one of all on the store that is elected for it.
 * Resolves when all have stopped, after `signal` aborted.
 */
export function startControllers(settings: ControllerSettings): Promise<void> {
  const { store, signal, logger, metrics } = settings;
  // Two that do not do the same do not stand in for each other.
  const name = settings.controllers === 'all' ? 'controllers' : 'api-controllers';
  const lead = (term: Term) => controlFor(settings, term);
  return runLeader({
    store,
    name,
    lead: metrics?.leaders.leading(name, lead) ?? lead,
    signal,
    logger,
  });
}

/** All of it goes through the ladder like anyone (invariant 12); one watch per kind serves them all. */
async function controlFor(settings: ControllerSettings, { signal, fence }: Term): Promise<void> {
  const { server, logger, rootCa, silentMs: grace } = settings;
  const silentMs = grace === undefined ? {} : { silentMs: grace };
  // One listener for each controller, informer and request of the term.
  setMaxListeners(0, signal);
  const client = systemClient(server, controllersUser, '*', fence);
  await ensureSystemNamespaces(client, rootCluster, signal);
  // Tenants' webhooks are asked for it: whatever else there is to do waits for none of them.
  const ranges = ensureServiceRanges(client, { logger, signal });
  const informers = new InformerSet(client, { cluster: '*', signal, logger, keep: slim });
  if (settings.controllers === 'api') {
    await Promise.all([ranges, startServerControllers({ client, informers, signal, logger })]);
    return;
  }
  const forget = settings.metrics?.placements.follow(informers.for<Placement>(placements));
  signal.addEventListener('abort', () => forget?.(), { once: true });
  const scheduler = systemClient(server, schedulerUser, '*', fence);
  const tokens = new ServiceAccountTokens(settings.accountKeys);
  const sign: SignToken = (cluster, account, secret) => tokens.issueInto(cluster, account, secret);
  const splitter = systemClient(server, splitterUser, '*', fence);
  await Promise.all([
    ranges,
    startGenericControllers({ client, informers, signal, logger, rootCa, sign }),
    runSigningController({ client, informers, signal, logger, sign: settings.signClient }),
    runEndpointsController({ client, informers, signal, logger }),
    runDisruptionController({ client, informers, signal, logger }),
    runPodAdmissionController({ client, informers, signal, logger }),
    runRefusedRevisionController({ client, informers, signal, logger }),
    runVolumesController({ client, informers, signal, logger }),
    runTypeCheckController({ client, informers, signal, logger }),
    runWorkspaceController({ client, informers, signal, logger, url: settings.url }),
    startScheduler({ client: scheduler, informers, reader: client, signal, logger }),
    startSplitter({
      client: splitter,
      informers,
      signal,
      logger,
      settleMs: settings.settleMs,
      ...(settings.drainMs !== undefined && { drainMs: settings.drainMs }),
      ...silentMs,
    }),
    runDepartures({
      client,
      informers,
      signal,
      logger,
      ...(settings.forgetMs !== undefined && { forgetMs: settings.forgetMs }),
      viewOf: (name) => new Client(server.transport(syncerUser(name), fence), { prefix: `/syncers/${name}` }),
    }),
    runSilence({
      client: client.with({ cluster: rootCluster }),
      signal,
      logger,
      ...silentMs,
    }),
    runLost({ client, informers, signal, logger, ...silentMs }),
  ]);
}
