import type { Client } from '../client/client.ts';
import { type Informer, startInformer } from '../client/informer.ts';
import { keyOf } from '../client/url.ts';
import { withHeartbeat } from '../cluster/heartbeats.ts';
import { isGivenUp } from '../cluster/life.ts';
import { physicalClusters, rootCluster } from '../cluster/names.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { runController } from '../controller/controller.ts';
import type { Term } from '../controller/leader.ts';
import { WorkQueue } from '../controller/queue.ts';
import { deepEqual } from '../kube/deep.ts';
import type { Transport } from '../kube/http.ts';
import type { KubeObject } from '../kube/object.ts';
import { Rounds } from '../kube/rounds.ts';
import { anew } from './anew.ts';
import { connectPod, connectService, type PodRoute, type Reachable } from './connect.ts';
import { identityOf, noticing } from './credentials.ts';
import { Heartbeats } from './heartbeats.ts';
import { Joining } from './joining.ts';
import { type UsageReader, usageReader } from './pod-metrics.ts';
import { type SyncerOptions, startSyncer } from './syncer.ts';
import { Told } from './told.ts';
import { Twins } from './twins.ts';
import { type Broken, type WayOptions, wayTo, whileHeld, whyBroken } from './way.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' };
const failedMs = 5_000;

export interface SyncersOptions
  extends Pick<
    SyncerOptions,
    'signal' | 'logger' | 'heartbeatMs' | 'namespaceDelayMs' | 'firstMeeting' | 'rush'
  > {
  /** May read PhysicalClusters and their Secrets in root, Placements and Namespaces everywhere. */
  client: Client;
  transportFor: WayOptions['transportFor'];
  /** With prefix /syncers/<name>; its writes are fenced by the term. */
  upstreamFor(name: string, term: Term): Client;
  /** Leads whenever it is elected for the cluster, until `signal` aborts: one syncer of all servers at a time. */
  elect(name: string, lead: (term: Term) => Promise<void>, signal: AbortSignal): Promise<void>;
}

export interface Syncers {
  /** The way to an engaged cluster's API. */
  transport(name: string): Transport | undefined;
  clusters(): Iterable<PhysicalCluster>;
  /** For the API server's connectPod: where a logical cluster's pod really runs. */
  connectPod(cluster: string, pod: KubeObject): Promise<PodRoute | undefined>;
  /** For its connectService: where a logical cluster's Service really is. */
  connectService(
    cluster: string,
    service: KubeObject,
  ): Promise<{ transport: Transport; path: string } | undefined>;
  /** For its podUsage: what a logical cluster's pods use. */
  podUsage: UsageReader;
  readonly stopped: Promise<void>;
}

interface Engaged extends Reachable {
  /** What `transport` goes by. */
  given: Transport;
  /** A digest: it is of credentials. Another one means another lifetime. */
  identity: string;
  /** Its kubeconfig does not work, and that of before is not known. */
  broken?: Broken;
  /** It is reached by the kubeconfig of before, since the present one does not work. */
  newer: { why?: string | undefined };
  end(): Promise<void>;
}

/**
 * One syncer per PhysicalCluster, engaged when it appears, made anew when its uid, credentials or spec.namespaceLabels change. Every server
 * keeps the way to every cluster; the syncer runs where it is elected.
 */
export function startSyncers(options: SyncersOptions): Syncers {
  const { client: given, signal, logger } = options;
  const client = given.with({ cluster: rootCluster });
  const engaged = new Map<string, Engaged>();
  const clusters = startInformer<PhysicalCluster>(client, physicalClusters, { signal, logger });
  const twins = new Twins(client, clusters);
  const joining = new Joining();
  const rounds = new Rounds();
  const told = new Told(client, { signal, logger });
  const { heartbeatMs = 10_000 } = options;
  const heartbeats = new Heartbeats({ client, told, signal, logger, clock: rounds, intervalMs: heartbeatMs });
  const queue = new WorkQueue({ maxDelayMs: 30_000 });
  clusters.addIndex('secret', (cluster) => [secretKey(cluster)]);
  const add = (_: PhysicalCluster, key: string) => queue.add(key);
  const update = (cluster: PhysicalCluster, old: PhysicalCluster, key: string) => {
    if (isOther(cluster, old)) queue.add(key);
  };
  clusters.on({ add, update, delete: add });
  const credentials = watchSecrets(client, clusters, queue, options);
  const saying = heartbeats.run();
  const stopped = runController({
    name: 'syncers',
    queue,
    reconcile: (key) =>
      engage({ options, client, clusters, engaged, twins, joining, rounds, queue, told, heartbeats }, key),
    signal,
    logger,
    ready: [clusters.synced, credentials.synced, told.synced],
  }).then(async () => {
    await Promise.all([...engaged.values()].map((one) => one.end()));
    await saying;
  });
  const transport = (name: string) => {
    const way = engaged.get(name);
    return way?.broken ? undefined : way?.given;
  };
  const asHeard = (cluster: PhysicalCluster) => withHeartbeat(cluster, told.at(cluster.metadata.name ?? ''));
  const clusterOf = (name: string) => {
    const cluster = clusters.get(keyOf(rootCluster, '', name));
    return cluster && asHeard(cluster);
  };
  const connecting = { client, engaged, clusterOf, signal };
  return {
    transport,
    clusters: () => clusters.list().map(asHeard),
    connectPod: (cluster, pod) => connectPod(connecting, cluster, pod),
    connectService: (cluster, service) => connectService(connecting, cluster, service),
    podUsage: usageReader(connecting),
    stopped,
  };
}

/** Of what a cluster is engaged by: most of what it says is that it lives. */
function isOther(cluster: PhysicalCluster, old: PhysicalCluster): boolean {
  return isGivenUp(cluster) !== isGivenUp(old) || !deepEqual(cluster.spec, old.spec);
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
  twins: Twins;
  joining: Joining;
  rounds: Rounds;
  queue: WorkQueue;
  told: Told;
  heartbeats: Heartbeats;
}

async function engage(
  { options, client, clusters, engaged, twins, joining, rounds, queue, told, heartbeats }: Manager,
  key: string,
): Promise<{ after: number } | undefined> {
  const { signal, logger, heartbeatMs, namespaceDelayMs, firstMeeting, rush } = options;
  const name = key.split('/').at(-1) ?? '';
  const cluster = clusters.get(key);
  const before = engaged.get(name);
  // One that is being deleted is emptied first.
  if (!cluster || isGivenUp(cluster)) {
    engaged.delete(name);
    await before?.end();
    return undefined;
  }
  const identity = await identityOf(client, cluster, signal);
  if (before?.identity === identity) {
    before.newer.why = undefined;
    return undefined;
  }
  const { given, broken } = await wayTo(cluster, options);
  if (broken) {
    const isIt = before?.uid === (cluster.metadata.uid ?? '');
    if (isIt && before.broken) before.broken.error = broken.error;
    else if (isIt) before.newer.why = whyBroken(broken);
    // One that is reached by the kubeconfig of before goes on; another one of its name was never reached by that.
    if (isIt) return { after: failedMs };
  }
  engaged.delete(name);
  await before?.end();
  if (signal.aborted) return undefined;
  const transport = noticing(given, () => queue.add(key));
  const life = new AbortController();
  const newer: Engaged['newer'] = {};
  const lead = (term: Term) =>
    anew(
      {
        name,
        upstream: options.upstreamFor(name, term),
        physical: whileHeld(transport, term),
        signal: term.signal,
        logger,
        whyFormerKubeconfig: () => newer.why,
        whyNotTaken: (clusterUID) => twins.whyNot(key, clusterUID, term.signal),
        together: {
          note: (began, again, mayWait) => term.held() && heartbeats.note(name, began, again, mayWait),
          heardAt: () => told.at(name),
          seen: () => clusters.get(key),
        },
        joining,
        clock: rounds,
        former: cluster.spec?.adopt ?? [],
        namespaceLabels: cluster.spec?.namespaceLabels ?? [],
        ...(firstMeeting && { firstMeeting }),
        ...(rush && { rush }),
        ...(heartbeatMs !== undefined && { heartbeatMs }),
        ...(namespaceDelayMs !== undefined && { namespaceDelayMs }),
      },
      startSyncer,
    );
  const stopped = options.elect(name, lead, AbortSignal.any([signal, life.signal]));
  const end = async () => {
    life.abort(new Error(`cluster ${name} is disengaged`));
    await stopped;
  };
  const way = broken ? { identity: '', broken } : { identity };
  engaged.set(name, { ...way, newer, given, transport, uid: cluster.metadata.uid ?? '', end });
  return broken && { after: failedMs };
}

function secretKey({ spec }: PhysicalCluster): string {
  const { namespace = '', name = '' } = spec?.kubeconfigSecretRef ?? {};
  return `${namespace}/${name}`;
}
