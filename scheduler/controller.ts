import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey } from '../client/url.ts';
import { type PlacedObject, refKey, refOf } from '../cluster/closure.ts';
import { identifyingNamespace, whyNotTaken } from '../cluster/identity.ts';
import { isPlaceable, type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { physicalClusters, placements, rootCluster } from '../cluster/names.ts';
import { textAt } from '../cluster/read.ts';
import { isReflected, reflectedFrom } from '../cluster/reflected.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { EventRecorder } from '../controller/events.ts';
import { WorkQueue } from '../controller/queue.ts';
import { byLogicalCluster } from '../controller/scope.ts';
import { deepEqual } from '../kube/deep.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { decideNamespace } from './decide.ts';
import { Ledger } from './ledger.ts';
import { clusterMatters, objectMatters, placementMatters } from './matters.ts';
import { Pace } from './pace.ts';
import { isUsedByName, scopeOf } from './scope.ts';
import { addUsage, type Usage, usageOf } from './usage.ts';
import { namespaceWish, ownWish } from './wishes.ts';
import { type Writer, writeDecision } from './write.ts';

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
  pace: Pace;
  /** By Namespace: what the last decision looked for by name. Absent: not decided yet, or all of it counts. */
  mentioned: Map<string, ReadonlySet<string>>;
}

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const;
const byNamespace = 'scheduler/namespace';
const byWish = 'scheduler/wish';
const byReflection = 'scheduler/reflection';
const byIdentity = 'scheduler/identity';
/** Room may also appear without any event about a cluster: when other workloads shrink. */
const blockedRetryMs = 15_000;

/** WHERE. Keys are those of Namespaces. Resolves when `signal` has aborted. */
export async function startScheduler(options: SchedulerOptions): Promise<void> {
  const { client, informers, signal, logger, workers = 4 } = options;
  const queue = new WorkQueue({ fair: byLogicalCluster(workers) });
  const writer = {
    client,
    signal,
    recorder: new EventRecorder({ ...options, component: 'atoll-scheduler' }),
  };
  const world = observe(informers);
  wake(world, queue);
  const all = [world.namespaces, world.placements, world.clusters, ...world.objects.values()];
  const synced = Promise.all(all.map((informer) => informer.synced));
  await runController({
    name: 'scheduler',
    queue,
    reconcile: (key) => reconcile(key, world, writer),
    signal,
    logger,
    workers,
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
  const objects = new Map(placedKinds.map((kind) => [kind, indexed(informers.for(kind))]));
  for (const [kind, informer] of objects) {
    if (isClaims(kind)) informer.addIndex(byReflection, (o) => (isReflected(o) ? [namespaceKey(o)] : []));
    if (isUsedByName(kind)) informer.addIndex(byWish, (o) => (ownWish(o) ? [namespaceKey(o)] : []));
  }
  const identified = informers.for(namespaces);
  identified.addIndex(byIdentity, ({ metadata: { name, uid = '' } }) =>
    name === identifyingNamespace ? [uid] : [],
  );
  return {
    namespaces: identified,
    placements: indexed(informers.for<Placement>(placements)),
    clusters: informers.for<PhysicalCluster>(physicalClusters),
    objects,
    ledger: new Ledger(),
    pace: new Pace(),
    mentioned: new Map(),
  };
}

function wake(world: World, queue: WorkQueue): void {
  const soon = (key: string) => queue.addAfter(key, world.pace.wait(key));
  const within = (object: KubeObject) => soon(namespaceKey(object));
  world.namespaces.on({
    add: (_, key) => soon(key),
    update: (now, old, key) => objectMatters(now, old) && soon(key),
    delete: (_, key) => soon(key),
  });
  world.placements.on({
    add: within,
    update: (now, old) => placementMatters(now, old) && within(now),
    delete: within,
  });
  for (const [kind, informer] of world.objects) {
    // Reflected pods come and go in great numbers, and place nothing.
    const counts = (object: KubeObject) => isPlaceable(kind, object) && isMentioned(world, kind, object);
    informer.on({
      add: (object) => (counts(object) || (isClaims(kind) && isReflected(object))) && within(object),
      update: (now, old) =>
        (((counts(now) || counts(old)) && objectMatters(now, old)) || holdsOtherwise(now, old)) &&
        within(now),
      delete: (object) => (counts(object) || (isClaims(kind) && isReflected(object))) && within(object),
    });
  }
  const concerned = (cluster: PhysicalCluster) => {
    wakeConcerned(world, queue, cluster);
    // What held nothing of ours a moment ago may hold its credentials now.
    const { namespace } = cluster.spec?.kubeconfigSecretRef ?? {};
    if (namespace) queue.add(keyOf(rootCluster, '', namespace));
  };
  world.clusters.on({
    add: concerned,
    update: (now, old) => clusterMatters(now, old) && concerned(now),
    delete: concerned,
  });
}

function isClaims({ kind }: PlacedKind): boolean {
  return kind === 'PersistentVolumeClaim';
}

/** A claim that is reflected holds data now, or no longer. */
function holdsOtherwise(now: KubeObject, old: KubeObject): boolean {
  if (now.kind !== 'PersistentVolumeClaim' || !isReflected(now)) return false;
  const held = (claim: KubeObject) => [
    textAt(claim, 'status', 'phase'),
    claim.metadata.deletionTimestamp === undefined,
    ...reflectedFrom(claim),
  ];
  return !deepEqual(held(now), held(old));
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

/** What nobody names changes nothing. */
function isMentioned(world: World, kind: PlacedKind, object: KubeObject): boolean {
  if (!isUsedByName(kind) || ownWish(object)) return true;
  const mentioned = world.mentioned.get(namespaceKey(object));
  return mentioned === undefined || mentioned.has(refKey(refOf({ kind, object })));
}

/** Where the Namespace itself is placed, all that is in it goes along; else only what something names. */
function objectsOf(world: World, key: string, placed: readonly Placement[]): PlacedObject[] {
  const all = (kind: PlacedKind) => world.objects.get(kind)?.byIndex(byNamespace, key) ?? [];
  if (namespaceWish(world.namespaces.get(key))) {
    world.mentioned.delete(key);
    return placedKinds.flatMap((kind) => all(kind).map((object) => ({ kind, object })));
  }
  const { cluster, name: namespace } = parseKey(key);
  const { objects, mentioned } = scopeOf(
    placedKinds,
    {
      all,
      wishing: (kind) => world.objects.get(kind)?.byIndex(byWish, key) ?? [],
      get: (kind, name) => world.objects.get(kind)?.get(keyOf(cluster, namespace, name)),
    },
    placed,
  );
  if (world.namespaces.get(key)) world.mentioned.set(key, mentioned);
  else world.mentioned.delete(key);
  return objects;
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

function claimsIn(world: World, key: string): KubeObject[] {
  const informer = [...world.objects].find(([kind]) => isClaims(kind))?.[1];
  return informer?.byIndex(byReflection, key) ?? [];
}

/** Each cluster under one name only, and never a logical one of ours: see cluster/identity.ts. */
function notTaken({ clusters, namespaces: all }: World): ReadonlyMap<string, string> {
  const isOwn = (uid: string) => all.byIndex(byIdentity, uid).length > 0;
  const found = new Map<string, string>();
  for (const cluster of clusters.values()) {
    const why = whyNotTaken(cluster, clusters.values(), isOwn);
    if (why !== undefined) found.set(cluster.metadata.name ?? '', why);
  }
  return found;
}

async function reconcile(key: string, world: World, writer: Writer): Promise<Retry | undefined> {
  const { cluster } = parseKey(key);
  const began = performance.now();
  const placed = world.placements.byIndex(byNamespace, key);
  const decision = decideNamespace({
    namespace: world.namespaces.get(key),
    objects: objectsOf(world, key, placed),
    placements: placed,
    claims: claimsIn(world, key),
    clusters: world.clusters.list(),
    notTaken: notTaken(world),
    usage: world.ledger.others(key),
  });
  // Before anything is awaited: the next decision, of whatever namespace, counts with this one.
  world.ledger.set(key, decision.usage);
  world.pace.took(key, performance.now() - began);
  await writeDecision(cluster, decision, writer);
  return decision.blocked ? { after: blockedRetryMs } : undefined;
}
