import { nodesAdmission } from '../apiserver/admission/nodes.ts';
import { placementAdmission } from '../apiserver/admission/placement.ts';
import { tenancyAdmission } from '../apiserver/admission/tenancy.ts';
import { tokenAuthenticator } from '../apiserver/authn/token.ts';
import { certificateAuthenticator } from '../apiserver/authn/x509.ts';
import { placementsBySystem } from '../apiserver/authz/placements.ts';
import type { MetricsPage } from '../apiserver/observer.ts';
import type { ApiServerOptions } from '../apiserver/options.ts';
import { syncerView } from '../apiserver/view/view.ts';
import { ownResources } from '../cluster/resources.ts';
import type { Logger } from '../kube/log.ts';
import type { Store } from '../storage/store.ts';
import { accountKeysView } from './account-keys-view.ts';
import type { Authentication } from './authentication/types.ts';
import { backupView } from './backup-view.ts';
import { certificateView } from './certificate-view.ts';
import { egressOf } from './egress.ts';
import { adminUser, type Identity } from './identity.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Settings } from './settings.ts';
import type { SyncerManager } from './syncers.ts';
import { kubernetesVersion } from './version.ts';

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
  /** Undefined until they are started. */
  syncers(): SyncerManager | undefined;
  /** Told of every request. */
  metrics?: Metrics;
  /** What /metrics says; absent where nobody asks from outside. */
  page?: MetricsPage;
}): ApiServerOptions {
  const { store, stored, settings, identity, logger, syncers, authentication, metrics, page } = parts;
  return {
    store,
    logicalClusters: true,
    resources: ownResources.map((resource) => ({
      ...resource,
      custom: true,
      subresources: { status: true },
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
    accountKeys: identity.accountKeys,
    accountIssuer: settings.serviceAccountIssuer,
    guard: placementsBySystem,
    admission: [placementAdmission, tenancyAdmission, nodesAdmission],
    views: [
      syncerView(),
      backupView(stored ?? store),
      certificateView(identity.signClient),
      accountKeysView(),
    ],
    connectPod: (cluster, pod) => syncers()?.connectPod(cluster, pod),
    egress: egressOf(settings),
    connectService: async (cluster, service) => syncers()?.connectService(cluster, service),
    ...(metrics && { observer: metrics.requests }),
    ...(page && { metrics: page }),
    version: `v${kubernetesVersion}+atoll`,
    limits: {
      readsInFlight: settings.maxRequestsInflight,
      writesInFlight: settings.maxMutatingRequestsInflight,
    },
    logger: {
      ...(settings.logLevel === 'debug' && {
        debug: (message: string, values: object = {}) => logger.debug(values, message),
      }),
      info: (message, values = {}) => logger.info(values, message),
      error: (message, values = {}) => logger.error(values, message),
    },
  };
}
