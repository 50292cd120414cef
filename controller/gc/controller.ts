import type { Handlers } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import type { DiscoveredResource, Discovery } from '../../client/discovery.ts';
import type { InformerSet } from '../../client/informers.ts';
import { logicalClusterOf, objectKey } from '../../client/url.ts';
import { rootCluster } from '../../cluster/names.ts';
import { sleep } from '../../kube/clock.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { runController } from '../controller.ts';
import { EventRecorder } from '../events.ts';
import { WorkQueue } from '../queue.ts';
import { clusterToWrite } from '../scope.ts';
import { runOthersMonitor } from './extension.ts';
import { Graph, nodeOf, waitsForDependents } from './graph.ts';
import { Kinds } from './kinds.ts';
import { aboutNode, wordOfMisplaced } from './misplaced.ts';
import { Monitors } from './monitors.ts';
import { Owners } from './owners.ts';
import { reconcileItem } from './reconcile.ts';
import {
  type CustomResourceDefinition,
  collectable,
  customResourceDefinitions,
  served,
} from './resources.ts';

export interface GarbageCollectorOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  workers?: number;
  /** How often discovery is read again; default 30 000. A change to a CRD does it at once. */
  rediscoverMs?: number;
  /** How often API servers of logical clusters' own are looked through; default 10 000. */
  othersMs?: number;
}

/** Work starts without the caches that are not there by then: owners are looked up before anything is deleted. */
const syncDeadlineMs = 30_000;
/** After a discovery that failed. */
const retryMs = 1_000;

/**
 * Woken by every object of every served kind. Deletes what has lost all its owners, orphans or deletes dependents
 * as their owner's finalizers say, and drops those finalizers. Resolves when stopped.
 */
export async function runGarbageCollector(options: GarbageCollectorOptions): Promise<void> {
  const { client, informers, signal, logger } = options;
  const workers = options.workers ?? 8;
  const graph = new Graph();
  const partyOf = (uid: string) => graph.get(uid)?.cluster ?? '';
  const queue = new WorkQueue({ fair: { partyOf, most: workers } });
  const recorder = new EventRecorder({ client, component: 'garbage-collector-controller', signal, logger });
  const handlers = (resource: DiscoveredResource) =>
    graphHandlers({ graph, queue, informers, recorder }, resource);
  const onRemoved = (resource: DiscoveredResource) => {
    for (const { uid } of [...graph.of(resource)]) graph.remove(uid);
  };
  const monitors = new Monitors({ informers, handlers, onRemoved });
  const crds = informers.for<CustomResourceDefinition>(customResourceDefinitions, { everywhere: true });
  const kinds = new Kinds(informers.cluster === '*' ? crds : undefined);
  const owners = new Owners(client, graph, kinds);
  const known: Known = { crds, monitors, kinds, mayDiffer: true };
  while (!signal.aborted && !monitors.any) {
    await rediscover(options, known);
    if (!monitors.any) await sleep(retryMs, signal);
  }
  const ready = Promise.race([monitors.synced, sleep(syncDeadlineMs, signal)]);
  const parts = { client, kinds, graph, owners, queue };
  await Promise.all([
    runOthersMonitor({ ...options, everyMs: options.othersMs ?? 10_000 }, { graph, kinds, queue }),
    keepDiscovering(options, known),
    runController({
      name: 'gc',
      queue,
      workers,
      reconcile: (uid, stop) => reconcileItem(parts, uid, stop),
      signal,
      logger,
      ready: [ready],
    }),
  ]);
}

interface Known {
  crds: Parameters<typeof collectable>[1];
  monitors: Monitors;
  kinds: Kinds;
  /** As it was discovered last; not known to be so any more where it `mayDiffer`. */
  served?: Discovery;
  mayDiffer: boolean;
}

/** Asks what is served only where it may be something else by now: whoever defines a kind of their own changes it for nobody else. */
async function rediscover(options: GarbageCollectorOptions, known: Known): Promise<boolean> {
  const { client, informers, signal, logger } = options;
  const wildcard = informers.cluster === '*';
  try {
    if (known.mayDiffer || !known.served) {
      known.mayDiffer = false;
      known.served = await served(client, wildcard, signal);
    }
    const { common, watched, complete } = collectable(known.served, known.crds, wildcard);
    known.kinds.learn(common, complete);
    known.monitors.set(watched, complete);
    if (!complete) known.mayDiffer = true;
    return complete;
  } catch (err) {
    known.mayDiffer = true;
    if (!signal.aborted) logger.warn({ err }, 'discovery failed');
    return false;
  }
}

async function keepDiscovering(options: GarbageCollectorOptions, known: Known): Promise<void> {
  const { signal, informers } = options;
  let delay = options.rediscoverMs ?? 30_000;
  let isStale = true;
  let wake = () => {};
  // A CRD is served a moment after it is written, and is written again when it is.
  const changed = (crd: CustomResourceDefinition) => {
    if (informers.cluster !== '*' || logicalClusterOf(crd) === rootCluster) known.mayDiffer = true;
    isStale = true;
    wake();
  };
  const off = known.crds.on({ add: changed, update: changed, delete: changed });
  while (!signal.aborted) {
    if (!isStale) {
      const nap = new AbortController();
      wake = () => nap.abort();
      signal.addEventListener('abort', wake, { once: true });
      await sleep(delay, nap.signal);
      signal.removeEventListener('abort', wake);
      if (!isStale) known.mayDiffer = true;
    }
    // Many CRDs are often written together.
    await sleep(200, signal);
    isStale = false;
    if (signal.aborted) break;
    const complete = await rediscover(options, known);
    delay = complete ? (options.rediscoverMs ?? 30_000) : retryMs;
  }
  off();
}

interface Keeping {
  graph: Graph;
  queue: WorkQueue;
  informers: InformerSet;
  recorder: EventRecorder;
}

/** Keeps the graph, and wakes whom a change concerns: the object, those it owned, those that wait for it. */
function graphHandlers(
  { graph, queue, informers, recorder }: Keeping,
  resource: DiscoveredResource,
): Handlers<KubeObject> {
  const wakeWaitingOwners = (uids: Iterable<string>) => {
    for (const uid of uids) {
      const owner = graph.get(uid);
      if (owner?.deleting) queue.add(uid);
    }
  };
  const put = (object: KubeObject) => {
    if (!object.metadata.uid) return;
    const node = nodeOf(resource, object, clusterToWrite(informers, objectKey(object)));
    const old = graph.put(node);
    if (!node.reflected && (node.owners.length > 0 || node.deleting)) {
      const word = wordOfMisplaced(node, old?.owners ?? [], (uid) => graph.get(uid));
      if (word) recorder.say(aboutNode(node), [word]);
      queue.add(node.uid);
    }
    if (waitsForDependents(node) && !(old && waitsForDependents(old))) {
      for (const { uid } of graph.dependents(node.uid)) queue.add(uid);
    }
    if (old) wakeWaitingOwners(old.owners.map(({ uid }) => uid));
  };
  return {
    add: put,
    update: put,
    delete(object) {
      const ended = object.metadata.uid ?? '';
      const old = graph.end(ended);
      for (const { uid } of graph.dependents(ended)) queue.add(uid);
      if (old) wakeWaitingOwners(old.owners.map(({ uid }) => uid));
    },
  };
}
