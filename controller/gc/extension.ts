import type { Client } from '../../client/client.ts';
import { type DiscoveredResource, discoverVersion } from '../../client/discovery.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { records, strings, text } from '../../kube/untyped.ts';
import { type ApiService, apiServices, isAsked } from '../aggregation/decide.ts';
import { eachListed } from '../aggregation/list.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { type Graph, type Node, nodeOf } from './graph.ts';
import type { Kinds } from './kinds.ts';

export interface OthersMonitorOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  everyMs: number;
}

interface Known {
  graph: Graph;
  kinds: Kinds;
  /** Of the graph's uids. */
  queue: WorkQueue;
}

const byCluster = 'gc/cluster';
const workers = 2;
const needed = ['get', 'list', 'delete'];
/** Of what one server says that it serves. */
const mostSaidBytes = 512 << 10;
/** Of one logical cluster: objects of its servers that are kept, what is kept of them, and resources that are looked through. */
const mostKept = { objects: 10_000, bytes: 4 << 20, resources: 1_000 };
const longestKind = 63;
/** Owners of one object, or finalizers. */
const mostReferences = 1_000;

/** Of one logical cluster's servers, by uid, with what each takes. */
type Kept = Map<string, { node: Node; bytes: number }>;

/**
 * Keeps in the graph those objects of API servers of a logical cluster's own that own, are owned, or wait to be deleted. Woken by
 * APIServices that are available, and by time: a watch of each would last where nobody uses it. Nothing that such a server says
 * of a uid counts beyond its own logical cluster. Resolves when stopped; on a plain Kubernetes at once: discovery tells of them.
 */
export async function runOthersMonitor(options: OthersMonitorOptions, known: Known): Promise<void> {
  const { informers, signal, logger, everyMs } = options;
  if (informers.cluster !== '*') return;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: { partyOf: (cluster) => cluster, most: 1 } });
  const all = informers.for<ApiService>(apiServices);
  all.addIndex(byCluster, (one) => (isAsked(one) ? [logicalClusterOf(one)] : []));
  const wake = (one: ApiService) => void (isAsked(one) && queue.add(logicalClusterOf(one)));
  all.on({
    add: wake,
    // Also one that is asked no more.
    update: (one, old) => (isAsked(one) !== isAsked(old) ? queue.add(logicalClusterOf(one)) : undefined),
    delete: wake,
  });
  const kept = new Map<string, Kept>();
  const reconcile = async (cluster: string): Promise<Retry | undefined> => {
    const its = kept.get(cluster) ?? new Map();
    kept.set(cluster, its);
    const servers = all.byIndex(byCluster, cluster);
    await new Pass(options.client, known, cluster, its).over(servers, signal);
    if (servers.length > 0) return { after: everyMs * (0.8 + Math.random() * 0.4) };
    kept.delete(cluster);
    return undefined;
  };
  await runController({ name: 'gc-others', queue, workers, reconcile, signal, logger, ready: [all.synced] });
}

/** What one logical cluster's servers have, compared with what they had before. */
class Pass {
  readonly #client: Client;
  readonly #known: Known;
  readonly #cluster: string;
  /** All of them that are in the graph, also after a pass that failed. */
  readonly #kept: Kept;
  readonly #seen = new Set<string>();
  #bytes: number;

  constructor(client: Client, known: Known, cluster: string, kept: Kept) {
    this.#client = client;
    this.#known = known;
    this.#cluster = cluster;
    this.#kept = kept;
    this.#bytes = [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Rejects where one does not answer: then nothing counts as gone. */
  async over(servers: readonly ApiService[], signal: AbortSignal): Promise<void> {
    const resources = new Map<string, DiscoveredResource>();
    const where = { cluster: this.#cluster, signal };
    for (const { spec } of servers) {
      const gv = { group: spec?.group ?? '', version: spec?.version ?? '' };
      for (const one of await discoverVersion(this.#client, gv, { ...where, maxBytes: mostSaidBytes })) {
        const isCollectable = needed.every((verb) => one.verbs.includes(verb));
        const key = `${one.group}/${one.resource}`;
        if (!isCollectable || resources.has(key) || one.kind.length > longestKind) continue;
        if (resources.size < mostKept.resources) resources.set(key, { ...one, verbs: needed });
      }
    }
    this.#known.kinds.learnOthers(this.#cluster, [...resources.values()]);
    for (const resource of resources.values())
      await eachListed(this.#client, resource, where, (object) => this.#see(resource, object));
    for (const uid of [...this.#kept.keys()]) if (!this.#seen.has(uid)) this.#gone(uid);
  }

  #see(resource: DiscoveredResource, object: KubeObject): void {
    const { graph, queue } = this.#known;
    const node = saidNode(resource, object, this.#cluster);
    const concerns = node && (node.owners.length > 0 || node.deleting || graph.hasDependents(node.uid));
    if (!node || !concerns || this.#seen.has(node.uid)) return;
    // Somebody else has that uid, or says so.
    const before = this.#kept.get(node.uid);
    if (graph.get(node.uid) !== before?.node) return;
    const bytes = JSON.stringify([node.name, node.namespace, node.owners, node.finalizers]).length;
    const more = bytes - (before?.bytes ?? 0);
    if (this.#bytes + more > mostKept.bytes || (!before && this.#kept.size >= mostKept.objects)) return;
    this.#bytes += more;
    this.#seen.add(node.uid);
    this.#kept.set(node.uid, { node, bytes });
    graph.put(node);
    queue.add(node.uid);
    if (node.deleting) for (const { uid } of graph.dependents(node.uid)) queue.add(uid);
  }

  #gone(uid: string): void {
    const { graph, queue } = this.#known;
    const node = this.#kept.get(uid)?.node;
    this.#kept.delete(uid);
    if (!node || graph.get(uid) !== node) return;
    const dependents = graph.dependents(uid);
    // It is not said to have ended: whoever depends on it asks.
    graph.remove(uid);
    for (const one of [...dependents, ...node.owners]) if (graph.get(one.uid)) queue.add(one.uid);
  }
}

/** Undefined of what is no object as Kubernetes has them. */
function saidNode(resource: DiscoveredResource, { metadata }: KubeObject, cluster: string): Node | undefined {
  const said = metadata as unknown as JsonObject;
  const { uid, name, namespace = '', ownerReferences, finalizers, deletionTimestamp } = said;
  if (![uid, name, namespace].every((one) => typeof one === 'string') || uid === '') return undefined;
  if ([ownerReferences, finalizers].some((one) => Array.isArray(one) && one.length > mostReferences))
    return undefined;
  const owners = records(ownerReferences).map((one) => ({
    apiVersion: text(one['apiVersion']),
    kind: text(one['kind']),
    name: text(one['name']),
    uid: text(one['uid']),
    ...(one['controller'] === true && { controller: true }),
    ...(one['blockOwnerDeletion'] === true && { blockOwnerDeletion: true }),
  }));
  const kept = {
    uid: text(uid),
    name: text(name),
    namespace: text(namespace),
    ownerReferences: owners,
    finalizers: strings(finalizers),
    ...(typeof deletionTimestamp === 'string' && { deletionTimestamp }),
  };
  const { group, version, kind } = resource;
  return nodeOf(resource, { apiVersion: `${group}/${version}`, kind, metadata: kept }, cluster);
}
