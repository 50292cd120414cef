import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey } from '../client/url.ts';
import type { PlacedObject } from '../cluster/closure.ts';
import { isPlaceable, type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { physicalClusters, placements } from '../cluster/names.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { decideNamespace } from './decide.ts';
import { Ledger } from './ledger.ts';
import { clusterMatters, objectMatters, placementMatters } from './matters.ts';
import { addUsage, type Usage, usageOf } from './usage.ts';
import { writeDecision } from './write.ts';

export interface SchedulerOptions {
  /** May write placements and annotate every placed kind, in all logical clusters. */
  client: Client;
  /** Reading across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  workers?: number;
}

interface World {
  namespaces: Informer;
  placements: Informer<Placement>;
  clusters: Informer<PhysicalCluster>;
  objects: ReadonlyMap<PlacedKind, Informer>;
  ledger: Ledger;
}

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const;
const byNamespace = 'scheduler/namespace';
/** Room may also appear without any event about a cluster: when other workloads shrink. */
const blockedRetryMs = 15_000;

/** WHERE. Keys are those of Namespaces. Resolves when `signal` has aborted. */
export async function startScheduler(options: SchedulerOptions): Promise<void> {
  const { informers, signal, logger, workers } = options;
  const queue = new WorkQueue();
  const world = observe(informers);
  wake(world, queue);
  const all = [world.namespaces, world.placements, world.clusters, ...world.objects.values()];
  const synced = Promise.all(all.map((informer) => informer.synced));
  await runController({
    name: 'scheduler',
    queue,
    reconcile: (key) => reconcile(key, world, options),
    signal,
    logger,
    ...(workers !== undefined && { workers }),
    ready: [synced.then(() => takeStock(world))],
  });
}

/** The key of the Namespace that an object is in. */
function namespaceKey(object: KubeObject): string {
  return keyOf(logicalClusterOf(object), '', object.metadata.namespace ?? '');
}

function observe(informers: InformerSet): World {
  const indexed = <T extends KubeObject>(informer: Informer<T>) => {
    informer.addIndex(byNamespace, (object) => [namespaceKey(object)]);
    return informer;
  };
  return {
    namespaces: informers.for(namespaces),
    placements: indexed(informers.for<Placement>(placements)),
    clusters: informers.for<PhysicalCluster>(physicalClusters),
    objects: new Map(placedKinds.map((kind) => [kind, indexed(informers.for(kind))])),
    ledger: new Ledger(),
  };
}

function wake(world: World, queue: WorkQueue): void {
  const within = (object: KubeObject) => queue.add(namespaceKey(object));
  world.namespaces.on({
    add: (_, key) => queue.add(key),
    update: (now, old, key) => objectMatters(now, old) && queue.add(key),
    delete: (_, key) => queue.add(key),
  });
  world.placements.on({
    add: within,
    update: (now, old) => placementMatters(now, old) && within(now),
    delete: within,
  });
  for (const [kind, informer] of world.objects) {
    // Reflected pods come and go in great numbers, and place nothing.
    const counts = (object: KubeObject) => isPlaceable(kind, object);
    informer.on({
      add: (object) => counts(object) && within(object),
      update: (now, old) => (counts(now) || counts(old)) && objectMatters(now, old) && within(now),
      delete: (object) => counts(object) && within(object),
    });
  }
  const concerned = (cluster: PhysicalCluster) => wakeConcerned(world, queue, cluster);
  world.clusters.on({
    add: concerned,
    update: (now, old) => clusterMatters(now, old) && concerned(now),
    delete: concerned,
  });
}

/** Namespaces that are on this cluster, ask for it, or are somewhere for want of a better place. */
function wakeConcerned(world: World, queue: WorkQueue, { metadata: { name = '' } }: PhysicalCluster): void {
  const unhappy = new Set<string>();
  for (const { spec, metadata } of world.clusters.values()) {
    const evicts = spec?.drain === true || spec?.taints?.some((taint) => taint.effect === 'NoExecute');
    if (evicts && metadata.name !== undefined) unhappy.add(metadata.name);
  }
  for (const placement of world.placements.values()) {
    const { clusters = [], wanted = [] } = placement.spec ?? {};
    const isStuck = clusters.length === 0 || clusters.some((c) => unhappy.has(c));
    if (isStuck || clusters.includes(name) || wanted.includes(name)) queue.add(namespaceKey(placement));
  }
}

function objectsOf(world: World, key: string): PlacedObject[] {
  return [...world.objects].flatMap(([kind, informer]) =>
    informer.byIndex(byNamespace, key).map((object) => ({ kind, object })),
  );
}

/** Before the first decision: what is placed already, lest the first namespaces think that all is free. */
function takeStock(world: World): void {
  const uids = new Map<string, KubeObject>();
  for (const [kind, informer] of world.objects) {
    if (kind.role !== 'workload') continue;
    for (const object of informer.values()) uids.set(object.metadata.uid ?? '', object);
  }
  const usage = new Map<string, Usage>();
  for (const placement of world.placements.values()) {
    const workload = uids.get(placement.spec?.ref.uid ?? '');
    if (!workload) continue;
    const key = namespaceKey(placement);
    const own = usage.get(key) ?? new Map();
    addUsage(own, usageOf(workload, placement));
    usage.set(key, own);
  }
  for (const [key, own] of usage) world.ledger.set(key, own);
}

async function reconcile(key: string, world: World, options: SchedulerOptions): Promise<Retry | undefined> {
  const { cluster } = parseKey(key);
  const decision = decideNamespace({
    namespace: world.namespaces.get(key),
    objects: objectsOf(world, key),
    placements: world.placements.byIndex(byNamespace, key),
    clusters: world.clusters.list(),
    usage: world.ledger.others(key),
  });
  // Before anything is awaited: the next decision, of whatever namespace, counts with this one.
  world.ledger.set(key, decision.usage);
  await writeDecision(cluster, decision, options);
  return decision.blocked ? { after: blockedRetryMs } : undefined;
}
