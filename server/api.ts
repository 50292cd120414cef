import { clusterTaintAdmission } from '../apiserver/admission/cluster-taints.ts';
import { namedNodeAdmission } from '../apiserver/admission/named-node.ts';
import { nodesAdmission } from '../apiserver/admission/nodes.ts';
import { ownerAdmission } from '../apiserver/admission/owner.ts';
import { placementAdmission } from '../apiserver/admission/placement.ts';
import { policyAdmission } from '../apiserver/admission/policies.ts';
import { serversAdmission } from '../apiserver/admission/servers.ts';
import { tenancyAdmission } from '../apiserver/admission/tenancy.ts';
import { tokenAuthenticator } from '../apiserver/authn/token.ts';
import { certificateAuthenticator } from '../apiserver/authn/x509.ts';
import { placementsBySystem } from '../apiserver/authz/placements.ts';
import { limitsAdmission } from '../apiserver/limits/admission.ts';
import type { Gate } from '../apiserver/limits/gate.ts';
import type { MetricsPage } from '../apiserver/observer.ts';
import type { ApiServerOptions } from '../apiserver/options.ts';
import { syncerView } from '../apiserver/view/view.ts';
import type { Client } from '../client/client.ts';
import { ownResources } from '../cluster/resources.ts';
import { andThen } from '../kube/later.ts';
import type { Logger } from '../kube/log.ts';
import type { Store } from '../storage/store.ts';
import { accountKeysView } from './account-keys-view.ts';
import type { LoadedAudit } from './audit/load.ts';
import type { Authentication } from './authentication/types.ts';
import { backupView } from './backup-view.ts';
import { certificateView } from './certificate-view.ts';
import { egressOf } from './egress.ts';
import type { Encryption } from './encryption.ts';
import { adminUser, type Identity } from './identity.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Answer, Question } from './profiling/types.ts';
import { profilesView } from './profiling/view.ts';
import type { Settings } from './settings.ts';
import type { SyncerManager } from './syncers.ts';
import type { Tracing } from './tracing/tracing.ts';
import { kubernetesVersion } from './version.ts';
import { plans } from './what-if.ts';

/** Where reads and writes have a limit each, all share the sum of both, as with kube-apiserver. */
function inFlight({ maxRequestsInflight, maxMutatingRequestsInflight }: Settings): Partial<ApiServerOptions> {
  const [reads, writes] = [maxRequestsInflight, maxMutatingRequestsInflight];
  if (reads > 0 && writes > 0)
    return { seats: reads + writes, limits: { readsInFlight: 0, writesInFlight: 0 } };
  return { limits: { readsInFlight: reads, writesInFlight: writes } };
}

const nothingTold = { found: new Map(), unknown: ['this server has no way to any cluster'], answered: false };

const ownAdmission = [
  // What it says of a cluster is the user's word.
  namedNodeAdmission,
  placementAdmission,
  policyAdmission,
  tenancyAdmission,
  clusterTaintAdmission,
  limitsAdmission,
  ownerAdmission,
  nodesAdmission,
  serversAdmission,
];

/** What Atoll's API is, in each process that serves it. */
export function apiOptions(parts: {
  store: Store;
  /** Of which a backup is taken, where it is another: what is encrypted stays so. */
  stored?: Store;
  settings: Settings;
  identity: Identity;
  logger: Logger;
  /** Beside those who are always known; absent where nobody from outside is asked for. */
  authentication?: Authentication;
  /** In place of RBAC alone. */
  authorizers?: ApiServerOptions['authorizers'];
  audit?: LoadedAudit | undefined;
  /** Whose plugins are healthy or not. */
  encryption?: Encryption;
  /** Undefined until they are started. */
  syncers(): SyncerManager | undefined;
  /** Told of every request. */
  metrics?: Metrics;
  /** What /metrics says; absent where nobody asks from outside. */
  page?: MetricsPage;
  /** Takes a profile of a process of this server; absent where nobody asks from outside. */
  profile?: (question: Question) => Promise<Answer>;
  /** Reads what the scheduler sees, for plans; absent where nobody asks from outside. */
  scheduling?: () => Client;
  /** Of logical clusters' limits; absent where no user is answered. */
  gate?: Gate;
  /** Wants to know the steps of requests. */
  tracing?: Tracing | undefined;
}): ApiServerOptions {
  const { stored, settings, identity, logger, syncers, tracing } = parts;
  const { authentication, authorizers, audit, metrics, page, profile, scheduling, gate } = parts;
  const store = tracing?.over(parts.store) ?? parts.store;
  const health = parts.encryption?.health;
  const { admission, views } = plans(scheduling);
  return {
    store,
    logicalClusters: true,
    resources: ownResources.map((resource) => ({
      ...resource,
      custom: true,
      subresources: { status: resource.info.subresources.length > 0 },
    })),
    authenticate: [
      ...(authentication?.first ?? []),
      certificateAuthenticator(logger),
      tokenAuthenticator(new Map([[identity.adminToken, adminUser]])),
      ...(authentication?.tokens ?? []),
    ],
    authenticateLast: authentication?.last ?? [],
    bootstrapTokens: settings.enableBootstrapTokenAuth,
    ...(authentication?.anonymous && { anonymous: authentication.anonymous }),
    ...(audit && { audit: audit.options }),
    accountKeys: identity.accountKeys,
    accountIssuer: settings.serviceAccountIssuer,
    ...(authorizers && { authorizers }),
    guard: placementsBySystem,
    admission: [...ownAdmission, ...admission],
    podsElsewhere: settings.controllers === 'all',
    views: [
      syncerView(),
      backupView(stored ?? parts.store),
      certificateView(identity.signClient),
      accountKeysView(),
      ...views,
      ...(profile ? [profilesView(profile)] : []),
    ],
    connectPod: (cluster, pod) =>
      andThen(syncers()?.connectPod(cluster, pod), (route) => tracing?.along(route) ?? route),
    podUsage: async (cluster, pods, signal) =>
      (await syncers()?.podUsage(cluster, pods, signal)) ?? nothingTold,
    egress: egressOf(settings),
    connectService: async (cluster, service) => {
      const route = await syncers()?.connectService(cluster, service);
      return tracing?.along(route) ?? route;
    },
    ...(metrics && { observer: metrics.requests }),
    tracer: tracing?.tracer,
    ...(page && { metrics: page }),
    ...(health && { health }),
    ...(gate && { gate }),
    version: `v${kubernetesVersion}+atoll`,
    ...inFlight(settings),
    logger: {
      ...(settings.logLevel === 'debug' && {
        debug: (message: string, values: object = {}) => logger.debug(values, message),
      }),
      info: (message, values = {}) => logger.info(values, message),
      error: (message, values = {}) => logger.error(values, message),
    },
  };
}
