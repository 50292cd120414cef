import type { TokenKeys } from '../apiserver/authn/keys.ts';
import { ServiceAccountTokens } from '../apiserver/authn/service-account.ts';
import type { ApiServer } from '../apiserver/options.ts';
import { syncerUser } from '../apiserver/view/view.ts';
import { Client } from '../client/client.ts';
import type { InformerSet } from '../client/informers.ts';
import { physicalClusterInformer } from '../client/physical-clusters.ts';
import { placements, rootCluster, schedulerUser, splitterUser } from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import { runPodAdmissionController } from '../controller/admission/controller.ts';
import { runRefusedRevisionController } from '../controller/admission/history.ts';
import { runAvailabilityController } from '../controller/aggregation/controller.ts';
import { runAutoscalingController } from '../controller/autoscaling/controller.ts';
import { runClaimsController } from '../controller/claims/controller.ts';
import { runCronJobsController } from '../controller/cronjobs/controller.ts';
import { runDisruptionController } from '../controller/disruption/controller.ts';
import { runEndpointsController } from '../controller/endpoints/controller.ts';
import { startClusterControllers, startServerControllers } from '../controller/generic.ts';
import type { Term } from '../controller/leader.ts';
import { ensureServiceRanges, ensureSystemNamespaces } from '../controller/namespace/furnish.ts';
import { shardCount } from '../controller/shards.ts';
import { runSigningController, type SignClient } from '../controller/signing/controller.ts';
import type { SignToken } from '../controller/tokens/controller.ts';
import { runEventsEnd } from '../controller/ttl/events.ts';
import { runTypeCheckController, type typeChecks } from '../controller/typecheck/controller.ts';
import { runVolumesController } from '../controller/volumes/controller.ts';
import { runWorkspaceController } from '../controller/workspace/controller.ts';
import type { Logger } from '../kube/log.ts';
import { startScheduler } from '../scheduler/controller.ts';
import type { Begin } from '../splitter/begin.ts';
import { startSplitter } from '../splitter/controller.ts';
import { runDepartures } from '../syncer/departure.ts';
import { runLost } from '../syncer/lost.ts';
import { runSilence } from '../syncer/silence.ts';
import { autoscalerUser, systemClient } from './client.ts';
import type { Metrics } from './metrics/metrics.ts';
import { rush } from './rush.ts';
import type { Controllers } from './settings.ts';

export interface ControllerSettings {
  server: ApiServer;
  signal: AbortSignal;
  logger: Logger;
  settleMs: number;
  /** See SplitterOptions. */
  drainMs?: number;
  /** After how long without a word a physical cluster counts as silent; see runSilence. */
  silentMs?: number;
  /** See AutoscalingOptions.everyMs. */
  autoscaleMs?: number;
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

/** What one term has. */
export interface Terms {
  settings: ControllerSettings;
  term: Term;
  /** Writes while the term lasts. */
  client: Client;
  /** Across all logical clusters, or of those that concern it. */
  informers: InformerSet;
  checks: ReturnType<typeof typeChecks>;
}

/** What is done while a lease is held. Resolves after the term's signal aborted. All of it goes through the ladder like anyone (invariant 12). */
export type Duty = (terms: Terms) => Promise<void>;

/** Of one server that has nobody beside it. */
export const everything: Duty = async (terms) => {
  await ensureSystemNamespaces(terms.client, rootCluster, terms.term.signal);
  let begin: Begin | undefined;
  const first: Begin = (...of) => begin?.(...of);
  const begins = (how: Begin) => {
    begin = how;
  };
  await Promise.all([common(terms), place(terms, { begin: first }), ofClusters(terms, { begins })]);
};

/** What kube-apiserver does itself. */
export const serverAlone: Duty = async ({ settings: { logger }, term: { signal }, client, informers }) => {
  await ensureSystemNamespaces(client, rootCluster, signal);
  const ranges = ensureServiceRanges(client, { logger, signal });
  const common = { client, informers, signal, logger };
  await Promise.all([ranges, startServerControllers(common), runAvailabilityController(common)]);
};

/** WHERE: of all workloads of a physical cluster, so one decides. It also counts how Placements are. */
export const placing: Duty = (terms) => place(terms);

async function place(
  { settings, term: { signal, fence }, client, informers }: Terms,
  beginning: { begin?: Begin } = {},
): Promise<void> {
  const { server, logger, metrics } = settings;
  const forget = metrics?.placements.follow(informers.for<Placement>(placements));
  signal.addEventListener('abort', () => forget?.(), { once: true });
  const scheduler = systemClient(server, schedulerUser, '*', fence);
  await startScheduler({ client: scheduler, informers, reader: client, signal, logger, rush, ...beginning });
}

/** What concerns physical clusters, or several logical ones. */
export const forAll: Duty = async (terms) => {
  await ensureSystemNamespaces(terms.client, rootCluster, terms.term.signal);
  await common(terms);
};

async function common({ settings, term: { signal, fence }, client, informers }: Terms): Promise<void> {
  const { server, logger, url, silentMs, forgetMs } = settings;
  const silent = silentMs === undefined ? {} : { silentMs };
  const common = { client, informers, signal, logger };
  await Promise.all([
    // Tenants' webhooks are asked for it: whatever else there is to do waits for none of them.
    ensureServiceRanges(client, { logger, signal }),
    runEventsEnd({ client, signal, logger }),
    runWorkspaceController({ ...common, url }),
    runDepartures({
      ...common,
      ...(forgetMs !== undefined && { forgetMs }),
      viewOf: (name) => new Client(server.transport(syncerUser(name), fence), { prefix: `/syncers/${name}` }),
    }),
    runSilence({
      client: client.with({ cluster: rootCluster }),
      informer: physicalClusterInformer(informers),
      signal,
      logger,
      ...silent,
    }),
    runLost({ ...common, ...silent }),
  ]);
}

/** What each logical cluster needs by itself, of one part of them: where one server has all parts it has so many sets of these. */
export const forClusters: Duty = (terms) =>
  ofClusters(terms, { workers: splitters, rediscoverMs: shardCount * rediscoverMs });

const splitters = 8;
const rediscoverMs = 30_000;

async function ofClusters(
  { settings, term: { signal, fence }, client, informers, checks }: Terms,
  {
    workers,
    begins,
    ...less
  }: { workers?: number; rediscoverMs?: number; begins?: (begin: Begin) => void } = {},
): Promise<void> {
  const { server, logger, rootCa, settleMs, drainMs, silentMs, autoscaleMs } = settings;
  const tokens = new ServiceAccountTokens(settings.accountKeys);
  const sign: SignToken = (cluster, account, secret) => tokens.issueInto(cluster, account, secret);
  const common = { client, informers, signal, logger };
  await Promise.all([
    startClusterControllers({ ...common, rootCa, sign, ...less }),
    runSigningController({ ...common, sign: settings.signClient }),
    runEndpointsController(common),
    runAutoscalingController({
      ...common,
      autoscalerOf: (cluster) => new Client(server.transport(autoscalerUser(cluster), fence), { cluster }),
      ...(autoscaleMs !== undefined && { everyMs: autoscaleMs }),
    }),
    runCronJobsController(common),
    runDisruptionController(common),
    runPodAdmissionController(common),
    runRefusedRevisionController(common),
    runAvailabilityController(common),
    runVolumesController(common),
    runClaimsController(common),
    runTypeCheckController({ ...common, checks }),
    startSplitter({
      client: systemClient(server, splitterUser, '*', fence),
      informers,
      signal,
      logger,
      rush,
      settleMs,
      ...(drainMs !== undefined && { drainMs }),
      ...(silentMs !== undefined && { silentMs }),
      ...(workers !== undefined && { workers }),
      ...(begins && { begins }),
    }),
  ]);
}
