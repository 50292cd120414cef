import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { reflectedFromAnnotation, rootCluster } from '../cluster/names.ts';
import { placementName } from '../cluster/placement.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { Transport } from '../kube/http.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { type Syncer, type SyncerOptions, startSyncer } from './syncer.ts';

const physicalClusters = { group: 'atoll.dev', version: 'v1alpha1', resource: 'physicalclusters' };
const placements = { group: 'atoll.dev', version: 'v1alpha1', resource: 'placements' };
const secrets = { group: '', version: 'v1', resource: 'secrets' };
const failedMs = 5_000;

export interface SyncersOptions
  extends Pick<SyncerOptions, 'signal' | 'logger' | 'heartbeatMs' | 'namespaceDelayMs'> {
  /** May read PhysicalClusters and their Secrets in root, and Placements everywhere. */
  client: Client;
  transportFor(cluster: PhysicalCluster): Promise<Transport>;
  /** With prefix /syncers/<name>. */
  upstreamFor(name: string): Client;
}

export interface Syncers {
  /** The way to an engaged cluster's API. */
  transport(name: string): Transport | undefined;
  /** For the API server's connectPod: where a logical cluster's pod really runs. */
  connectPod(cluster: string, pod: KubeObject): Promise<{ transport: Transport; path: string } | undefined>;
  readonly stopped: Promise<void>;
}

interface Engaged {
  /** Another one means another lifetime. */
  identity: string;
  transport: Transport;
  podPath: Syncer['podPath'];
  end(): Promise<void>;
}

/** One syncer per PhysicalCluster, engaged when it appears, made anew when its uid or credentials change. */
export function startSyncers(options: SyncersOptions): Syncers {
  const { client: given, signal, logger } = options;
  const client = given.with({ cluster: rootCluster });
  const engaged = new Map<string, Engaged>();
  const clusters = startInformer<PhysicalCluster>(client, physicalClusters, { signal, logger });
  const queue = new WorkQueue({ maxDelayMs: 30_000 });
  clusters.addIndex('secret', (cluster) => [secretKey(cluster)]);
  const add = (_: PhysicalCluster, key: string) => queue.add(key);
  clusters.on({ add, update: (cluster, _old, key) => add(cluster, key), delete: add });
  const credentials = watchSecrets(client, clusters, queue, options);
  const stopped = runController({
    name: 'syncers',
    queue,
    reconcile: (key) => engage({ options, client, clusters, engaged }, key),
    signal,
    logger,
    ready: [clusters.synced, credentials.synced],
  }).then(async () => {
    await Promise.all([...engaged.values()].map((one) => one.end()));
  });
  const transport = (name: string) => engaged.get(name)?.transport;
  return {
    transport,
    connectPod: (cluster, pod) => connectPod({ client, engaged, signal }, cluster, pod),
    stopped,
  };
}

/** New content of a kubeconfig wakes the clusters that use it. */
function watchSecrets(
  client: Client,
  clusters: Informer<PhysicalCluster>,
  queue: WorkQueue,
  { signal, logger }: SyncersOptions,
): Informer {
  // Only that something changed matters: nothing secret is kept.
  const transform = ({
    apiVersion,
    kind,
    metadata: { name = '', namespace = '', resourceVersion = '' },
  }: KubeObject) => ({
    apiVersion,
    kind,
    metadata: { name, namespace, resourceVersion },
  });
  const informer = startInformer(client, secrets, { signal, logger, transform });
  const wake = ({ metadata: { namespace = '', name = '' } }: KubeObject) => {
    for (const cluster of clusters.byIndex('secret', `${namespace}/${name}`))
      queue.add(`${rootCluster}//${cluster.metadata.name}`);
  };
  informer.on({ add: wake, update: wake, delete: wake });
  return informer;
}

interface Manager {
  options: SyncersOptions;
  client: Client;
  clusters: Informer<PhysicalCluster>;
  engaged: Map<string, Engaged>;
}

async function engage(
  { options, client, clusters, engaged }: Manager,
  key: string,
): Promise<{ after: number } | undefined> {
  const { signal, logger, heartbeatMs, namespaceDelayMs } = options;
  const name = key.split('/').at(-1) ?? '';
  const cluster = clusters.get(key);
  const before = engaged.get(name);
  if (!cluster || cluster.metadata.deletionTimestamp) {
    engaged.delete(name);
    await before?.end();
    return undefined;
  }
  const identity = await identityOf(client, cluster, signal);
  if (before?.identity === identity) return undefined;
  let transport: Transport;
  try {
    transport = await options.transportFor(cluster);
  } catch (err) {
    logger.warn({ err, cluster: name }, 'a physical cluster cannot be reached: its kubeconfig does not work');
    return { after: failedMs };
  }
  engaged.delete(name);
  await before?.end();
  if (signal.aborted) return undefined;
  const life = new AbortController();
  const syncer = startSyncer({
    name,
    upstream: options.upstreamFor(name),
    physical: transport,
    signal: AbortSignal.any([signal, life.signal]),
    logger,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(namespaceDelayMs !== undefined && { namespaceDelayMs }),
  });
  const end = async () => {
    life.abort(new Error(`cluster ${name} is disengaged`));
    await syncer.stopped;
  };
  engaged.set(name, { identity, transport, podPath: syncer.podPath, end });
  return undefined;
}

function secretKey({ spec }: PhysicalCluster): string {
  const { namespace = '', name = '' } = spec?.kubeconfigSecretRef ?? {};
  return `${namespace}/${name}`;
}

async function identityOf(client: Client, cluster: PhysicalCluster, signal: AbortSignal): Promise<string> {
  const ref = cluster.spec?.kubeconfigSecretRef;
  let data: unknown;
  try {
    if (ref) data = (await client.get(secrets, { namespace: ref.namespace, name: ref.name }, signal))['data'];
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  return JSON.stringify([cluster.metadata.uid, ref, data]);
}

interface Connecting {
  client: Client;
  engaged: ReadonlyMap<string, Engaged>;
  signal: AbortSignal;
}

/** A reflected pod says where it runs; a placed Pod's Placement does. Only ever in the namespace of its own. */
async function connectPod(
  { client, engaged, signal }: Connecting,
  cluster: string,
  pod: KubeObject,
): Promise<{ transport: Transport; path: string } | undefined> {
  const { name = '', namespace = '', annotations } = pod.metadata;
  const where = annotations?.[reflectedFromAnnotation] ?? (await placedOn(client, cluster, pod, signal));
  const found = where === undefined ? undefined : engaged.get(where);
  const path = found?.podPath(cluster, namespace, name);
  return found && path !== undefined ? { transport: found.transport, path } : undefined;
}

async function placedOn(
  client: Client,
  cluster: string,
  pod: KubeObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name = '', namespace } = pod.metadata;
  const target = { cluster, namespace, name: placementName({ group: '', resource: 'pods', name }) };
  try {
    const placement = await client.get<Placement>(placements, target, signal);
    return Object.keys(placement.spec?.shares ?? {}).sort()[0];
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}
