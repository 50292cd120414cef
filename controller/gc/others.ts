import type { Client } from '../../client/client.ts';
import { type DiscoveredResource, discoverVersion } from '../../client/discovery.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type ApiService, apiServices, isAsked } from '../aggregation/decide.ts';
import { type Retry, runController } from '../controller.ts';
import { WorkQueue } from '../queue.ts';
import { type Graph, type Node, nodeOf } from './graph.ts';
import type { Kinds } from './kinds.ts';
import { metadataOnly } from './monitors.ts';

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
/** Of one logical cluster in a pass: lists of its servers. */
const mostListBytes = 32 << 20;
/** Of one logical cluster, objects of its servers that are kept. */
const mostKept = 10_000;

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
  const kept = new Map<string, Map<string, Node>>();
  const reconcile = async (cluster: string): Promise<Retry | undefined> => {
    const pass = new Pass(options.client, known, cluster, kept.get(cluster) ?? new Map());
    const servers = all.byIndex(byCluster, cluster);
    kept.set(cluster, await pass.over(servers, signal));
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
  readonly #before: ReadonlyMap<string, Node>;
  readonly #now = new Map<string, Node>();

  constructor(client: Client, known: Known, cluster: string, before: ReadonlyMap<string, Node>) {
    this.#client = client.with({ mostListBytes });
    this.#known = known;
    this.#cluster = cluster;
    this.#before = before;
  }

  /** Rejects where one does not answer: then all stays as it is. */
  async over(servers: readonly ApiService[], signal: AbortSignal): Promise<Map<string, Node>> {
    const resources = new Map<string, DiscoveredResource>();
    const where = { cluster: this.#cluster, signal };
    for (const { spec } of servers) {
      const gv = { group: spec?.group ?? '', version: spec?.version ?? '' };
      for (const one of await discoverVersion(this.#client, gv, where)) {
        const isCollectable = needed.every((verb) => one.verbs.includes(verb));
        const key = `${one.group}/${one.resource}`;
        if (isCollectable && !resources.has(key)) resources.set(key, one);
      }
    }
    this.#known.kinds.learnOthers(this.#cluster, [...resources.values()]);
    for (const resource of resources.values()) {
      const { items } = await this.#client.list(resource, { ...where, keep: metadataOnly });
      for (const object of items) this.#see(resource, object);
    }
    for (const [uid, node] of this.#before) if (!this.#now.has(uid)) this.#gone(uid, node);
    return this.#now;
  }

  #see(resource: DiscoveredResource, object: KubeObject): void {
    const { graph, queue } = this.#known;
    const node = nodeOf(resource, object, this.#cluster);
    const concerns = node.owners.length > 0 || node.deleting || graph.hasDependents(node.uid);
    if (!node.uid || !concerns || this.#now.size >= mostKept) return;
    // Somebody else has that uid, or says so.
    if (graph.get(node.uid) !== this.#before.get(node.uid) || this.#now.has(node.uid)) return;
    this.#now.set(node.uid, node);
    graph.put(node);
    queue.add(node.uid);
    if (node.deleting) for (const { uid } of graph.dependents(node.uid)) queue.add(uid);
  }

  #gone(uid: string, node: Node): void {
    const { graph, queue } = this.#known;
    if (graph.get(uid) !== node) return;
    const dependents = graph.dependents(uid);
    // It is not said to have ended: whoever depends on it asks.
    graph.remove(uid);
    for (const one of [...dependents, ...node.owners]) if (graph.get(one.uid)) queue.add(one.uid);
  }
}
