import type { ApiServer } from '../apiserver/options.ts';
import type { PodConnector, PodUsageReader, ServiceConnector } from '../apiserver/plugins.ts';
import { syncerUser } from '../apiserver/view/view.ts';
import { Client } from '../client/client.ts';
import { transportFromKubeconfig } from '../client/kubeconfig.ts';
import { rootCluster, secrets, syncerManagerUser } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { aloneTtlMs, runLeader, type Term } from '../controller/leader.ts';
import type { Members } from '../controller/members.ts';
import type { Transport } from '../kube/http.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Store } from '../storage/store.ts';
import { type SyncersOptions, startSyncers } from '../syncer/manager.ts';
import { systemClient } from './client.ts';
import { credentialsUntil } from './cluster-credentials.ts';
import { egressToClusters } from './egress.ts';
import type { Metrics } from './metrics/metrics.ts';
import { firstMeeting } from './restored.ts';
import { rush } from './rush.ts';
import type { Settings } from './settings.ts';

/** Of a cluster's answer, of which others are read at a time: a hundred of the largest objects. Longer lists come in pages. */
const maxResponseBytes = 256 * 1024 * 1024;

/** Longer than a cluster that rests is left alone, and less than kube-apiserver leaves a connection open of which nothing is asked (90 s). */
const freeMs = 75_000;

export interface SyncerManager {
  connectPod: PodConnector;
  connectService: ServiceConnector;
  podUsage: PodUsageReader;
  /** Whether there is a way to that physical cluster. */
  reaches(cluster: string): boolean;
  clusters(): Iterable<PhysicalCluster>;
  /** See credentialsUntil in cluster-credentials.ts. */
  credentialsUntil(cluster: string): number | undefined;
  stopped: Promise<void>;
}

/**
 * One syncer for each PhysicalCluster (push mode), each with its own narrow identity, in the process of the server
 * that is elected for it: of several on one store each has its part.
 */
export function startSyncerManager(parts: {
  server: ApiServer;
  store: Store;
  signal: AbortSignal;
  logger: Logger;
  /** False: keeps the ways to the clusters, and leaves the work to others. */
  leads: boolean;
  /** Who else is there, where a store may have several servers. */
  members?: Members | undefined;
  settings: Settings;
  metrics?: Metrics;
}): SyncerManager {
  const { server, store, signal, logger, leads, members, settings, metrics } = parts;
  const egress = egressToClusters(settings);
  const client = systemClient(server, syncerManagerUser, rootCluster);
  const upstreamFor = (name: string, { fence }: Term) => {
    const user = syncerUser(name);
    return new Client(server.transport(user, fence), {
      prefix: `/syncers/${name}`,
      userAgent: 'atoll-syncer',
    });
  };
  const untils = new Map<string, number | undefined>();
  const transportFor = async (cluster: PhysicalCluster): Promise<Transport> => {
    const { namespace, name } = cluster.spec?.kubeconfigSecretRef ?? { namespace: '', name: '' };
    const secret = await client.get<KubeObject & { data?: Record<string, string> }>(secrets, {
      namespace,
      name,
    });
    const text = Buffer.from(secret.data?.['kubeconfig'] ?? '', 'base64').toString('utf8');
    untils.set(cluster.metadata.name ?? '', credentialsUntil(text));
    return transportFromKubeconfig(text, { maxResponseBytes, freeMs, guard: (agent) => egress.guard(agent) });
  };
  const elect: SyncersOptions['elect'] = async (cluster, lead, ending) => {
    if (!leads) return untilAborted(ending);
    const name = `syncers/${cluster}`;
    const led = metrics?.leaders.leading(name, lead) ?? lead;
    const turn = members ? { isMine: () => members.isMine(name) } : { ttlMs: aloneTtlMs };
    await runLeader({ store, name, lead: led, signal: ending, logger, ...turn });
    metrics?.leaders.forget(name);
  };
  const syncers = startSyncers({
    client,
    transportFor,
    upstreamFor,
    elect,
    firstMeeting: (uid, former) => firstMeeting(store, uid, former),
    signal,
    logger,
    rush,
  });
  return {
    stopped: syncers.stopped,
    clusters: () => syncers.clusters(),
    credentialsUntil: (name) => untils.get(name),
    reaches: (name) => syncers.transport(name) !== undefined,
    connectPod: (logicalCluster, pod) => syncers.connectPod(logicalCluster, pod),
    podUsage: (logicalCluster, pods, asking) => syncers.podUsage(logicalCluster, pods, asking),
    connectService: (logicalCluster, service) => syncers.connectService(logicalCluster, service),
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
