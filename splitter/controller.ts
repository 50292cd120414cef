import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { askedSince, heardAt } from '../cluster/heard.ts';
import { type PlacedKind, placedKind, placedKinds } from '../cluster/kinds.ts';
import { counts, isForgotten, isGivenUp } from '../cluster/life.ts';
import { physicalClusters, placements, rootCluster } from '../cluster/names.ts';
import { placementName } from '../cluster/placement.ts';
import { listAt } from '../cluster/read.ts';
import type { ObjectRef, PhysicalCluster, Placement, Scale } from '../cluster/types.ts';
import { commit } from '../controller/commit.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { EventRecorder } from '../controller/events.ts';
import { WorkQueue } from '../controller/queue.ts';
import { byLogicalCluster } from '../controller/scope.ts';
import { type Clock, systemClock } from '../kube/clock.ts';
import { deepEqual } from '../kube/deep.ts';
import type { Logger } from '../kube/log.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { type Scaler, type ScaleTarget, scalerOf, scaleTarget, targetOf } from './autoscaler.ts';
import { type Covered, coveredBy } from './disruption.ts';
import { writeScale } from './scale.ts';
import { tellSilences } from './silences.ts';
import { type Split, split } from './split.ts';
import { wordsOf } from './words.ts';

export interface SplitterOptions {
  /** May write placements, their status, and the status of every placed kind, in all logical clusters. */
  client: Client;
  /** Reading across all logical clusters. */
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** How long a share must have been ready before others go on the strength of it; default 2000. */
  settleMs?: number;
  clock?: Clock;
  workers?: number;
}

type Telling = SplitterOptions & { recorder: EventRecorder };

interface World {
  placements: Informer<Placement>;
  clusters: Informer<PhysicalCluster>;
  roots: ReadonlyMap<PlacedKind, Informer>;
  scalers: Informer;
}

const byShare = 'splitter/share';
const byTarget = 'splitter/target';
const byFollower = 'splitter/follower';
/** Until the cache has what another wrote. */
const conflictMs = 100;
const autoscalers = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' } as const;
const byQuestion = 'splitter/question';
/** They mostly wait for the disk, which takes many writes at once as fast as one. */
const defaultWorkers = 32;

/** HOW MANY, and what it adds up to. Keys are those of Placements. Resolves when `signal` has aborted. */
export async function startSplitter(options: SplitterOptions): Promise<void> {
  const { signal, logger, workers = defaultWorkers } = options;
  const world = observe(options.informers);
  const fair = byLogicalCluster(workers);
  const queue = new WorkQueue({ fair, ...(options.clock && { clock: options.clock }) });
  wake(world, queue);
  const recorder = new EventRecorder({ ...options, component: 'atoll-splitter' });
  tellSilences(world.clusters, (name) => world.placements.byIndex(byShare, name), recorder);
  await runController({
    name: 'splitter',
    queue,
    reconcile: (key) => reconcile(key, world, { ...options, recorder }),
    signal,
    logger,
    workers,
    ready: [world.placements, world.clusters, ...world.roots.values()].map((informer) => informer.synced),
  });
}

function observe(informers: InformerSet): World {
  const observed = informers.for<Placement>(placements);
  observed.addIndex(byFollower, followersOf);
  observed.addIndex(byShare, (placement) => Object.keys(placement.spec?.shares ?? {}));
  const roots = new Map(placedKinds.map((kind) => [kind, informers.for(kind)]));
  const scalers = informers.for(autoscalers);
  scalers.addIndex(byTarget, (autoscaler) => placementOfTarget(autoscaler) ?? []);
  observed.addIndex(byQuestion, ({ spec }) =>
    Object.entries(spec?.shares ?? {}).flatMap(([c, share]) => (askedSince(share) === undefined ? [] : [c])),
  );
  return {
    placements: observed,
    clusters: informers.for<PhysicalCluster>(physicalClusters),
    roots,
    scalers,
  };
}

/** A Placement, the object it is about, or the physical clusters it is on have changed. */
function wake(world: World, queue: WorkQueue): void {
  const followers = (placement: Placement) => {
    for (const key of followersOf(placement)) if (world.placements.get(key)) queue.add(key);
  };
  world.placements.on({
    add: (placement, key) => {
      queue.add(key);
      followers(placement);
    },
    update: (placement, old, key) => {
      queue.add(key);
      if (!deepEqual(placement.spec, old.spec)) followers(placement);
    },
    delete: followers,
  });
  for (const [kind, informer] of world.roots) {
    const about = (object: KubeObject) => {
      const { cluster, namespace, name } = parseKey(objectKey(object));
      const key = keyOf(cluster, namespace, placementName({ ...kind, name }));
      if (world.placements.get(key)) queue.add(key);
    };
    informer.on({ add: about, update: about, delete: about });
  }
  const scaled = (autoscaler: KubeObject) => {
    for (const key of placementOfTarget(autoscaler) ?? []) if (world.placements.get(key)) queue.add(key);
  };
  world.scalers.on({
    add: scaled,
    update(now, old) {
      scaled(now);
      scaled(old);
    },
    delete: scaled,
  });
  const concerned = (cluster: PhysicalCluster, index: string) => {
    for (const placement of world.placements.byIndex(index, cluster.metadata.name ?? '')) {
      queue.add(objectKey(placement));
    }
  };
  const sharing = (cluster: PhysicalCluster) => concerned(cluster, byShare);
  world.clusters.on({
    add: sharing,
    update(cluster, old) {
      const [now, before] = [heardAt(cluster), heardAt(old)];
      if ((now === undefined) !== (before === undefined) || !isSameLife(cluster, old)) sharing(cluster);
      else if (now !== before) concerned(cluster, byQuestion);
    },
    delete: sharing,
  });
}

function isSameLife(now: PhysicalCluster, old: PhysicalCluster): boolean {
  return isForgotten(now) === isForgotten(old) && isGivenUp(now) === isGivenUp(old);
}

/** Autoscalers follow the shares of what they scale, disruption budgets those of what they cover. */
function followersOf(placement: Placement): string[] {
  const { cluster, namespace } = parseKey(objectKey(placement));
  return (placement.spec?.requires ?? [])
    .filter(({ resource }) => resource === 'horizontalpodautoscalers' || resource === 'poddisruptionbudgets')
    .map((ref) => keyOf(cluster, namespace, placementName(ref)));
}

/** Every workload that the budget of this Placement covers, of which there is a Placement. */
function coveredAt({ placements: all, roots }: World, key: string, root: KubeObject): Covered | undefined {
  if (root.kind !== 'PodDisruptionBudget') return undefined;
  const { cluster, namespace } = parseKey(key);
  return coveredBy(
    all.byIndex(byFollower, key).flatMap((placement) => {
      const ref = placement.spec?.ref;
      const kind = ref && placedKind(ref);
      const workload = kind && roots.get(kind)?.get(keyOf(cluster, namespace, ref.name));
      return workload ? [{ root: workload, placement }] : [];
    }),
  );
}

/** The key of the Placement of what an autoscaler scales. */
function placementOfTarget(autoscaler: KubeObject): string[] | undefined {
  const target = targetOf(autoscaler);
  if (!target) return undefined;
  const { cluster, namespace } = parseKey(objectKey(autoscaler));
  return [keyOf(cluster, namespace, placementName({ ...target.kind, name: target.name }))];
}

/** What scales the workload of this Placement. Of several, which Kubernetes itself stops, the first by name. */
function scalerAt({ scalers }: World, key: string): Scaler | undefined {
  const found = scalers.byIndex(byTarget, key).filter((a) => a.metadata.deletionTimestamp === undefined);
  const [first] = found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return first && scalerOf(first);
}

function targetAt({ placements: all, roots }: World, key: string, root: KubeObject): ScaleTarget | undefined {
  const ref = root.kind === 'HorizontalPodAutoscaler' ? targetOf(root) : undefined;
  if (!ref) return undefined;
  const { cluster, namespace } = parseKey(key);
  const workload = roots.get(ref.kind)?.get(keyOf(cluster, namespace, ref.name));
  const placement = all.get(keyOf(cluster, namespace, placementName({ ...ref.kind, name: ref.name })));
  return workload && placement && scaleTarget(workload, placement);
}

async function reconcile(key: string, world: World, options: Telling): Promise<Retry | undefined> {
  const placement = world.placements.get(key);
  if (!placement?.spec) return undefined;
  const { cluster, namespace } = parseKey(key);
  const { spec } = placement;
  const { ref } = spec;
  const kind = placedKind(ref);
  const root = kind && world.roots.get(kind)?.get(keyOf(cluster, namespace, ref.name));
  if (root && isOlder(root, placement)) return undefined;
  const { clock = systemClock, settleMs = 2000 } = options;
  const clusterAt = (name: string) => world.clusters.get(keyOf(rootCluster, '', name));
  const outcome = split({
    placement,
    root,
    isKnown: (name) => counts(clusterAt(name), spec),
    heardAt: (name) => heardAt(clusterAt(name)),
    now: clock.now(),
    settleMs,
    target: root && targetAt(world, key, root),
    covered: root && coveredAt(world, key, root),
    scaler: scalerAt(world, key),
    hasOwnVolume: hasOwnVolume(world, placement),
  });
  const scaled = root && outcome.scale && (await writeScale(cluster, ref, root, outcome.scale, options));
  if (scaled === 'conflict') return { after: conflictMs };
  const about = { cluster, namespace, ...ref };
  const tell = () => {
    if (root) options.recorder.say(about, wordsOf(placement, outcome.shares));
  };
  await write(cluster, placement, { ...outcome, scale: scaled }, { ...options, tell });
  if (root && outcome.rootStatus) await writeRoot(cluster, ref, root, outcome.rootStatus, options);
  return outcome.requeueAfterMs === undefined ? undefined : { after: outcome.requeueAfterMs };
}

/** A claim of it that one node, or one pod, may use at a time. */
function hasOwnVolume({ roots }: World, placement: Placement): boolean {
  const { cluster, namespace } = parseKey(objectKey(placement));
  return (placement.spec?.requires ?? []).some((ref) => {
    const kind = placedKind(ref);
    if (kind?.kind !== 'PersistentVolumeClaim') return false;
    const modes = listAt(roots.get(kind)?.get(keyOf(cluster, namespace, ref.name)), 'spec', 'accessModes');
    return modes.length > 0 && modes.every((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
  });
}

/** The cache has yet to hear of the replicas that were written here; it wakes this again. */
function isOlder(root: KubeObject, { spec }: Placement): boolean {
  const written = spec?.ref.uid === root.metadata.uid ? spec?.scale?.generation : undefined;
  return written !== undefined && (root.metadata.generation ?? 0) < written;
}

type Written = Omit<Split, 'scale'> & { scale: Scale | undefined };

/**
 * Stale slices before the shares, each under the resourceVersion that the write before left: a decision from a
 * stale cache must not call back what was told to leave, nor overlook what a syncer has just said. Otherwise the
 * shares first, since somebody waits for them.
 */
async function write(
  cluster: string,
  placement: Placement,
  outcome: Written,
  options: SplitterOptions & { tell(): void },
): Promise<void> {
  const { client, signal, tell } = options;
  const put = (old: Placement, wanted: Placement) =>
    commit(client, placements, old, wanted, { cluster, signal });
  const steps = [withShares, withStatus];
  if (outcome.stale.length > 0) steps.reverse();
  let current = placement;
  for (const step of steps) {
    current = await put(current, step(current, outcome));
    // Once written it has happened, whatever becomes of the status.
    if (step === withShares) tell();
  }
}

function withShares(old: Placement, { shares, scale }: Written): Placement {
  const isEmpty = Object.keys({ ...old.spec?.shares, ...shares }).length === 0;
  if (!old.spec || isEmpty) return old;
  const { scale: _before, ...spec } = old.spec;
  return { ...old, spec: { ...spec, shares, ...(scale && { scale }) } };
}

function withStatus(old: Placement, { stale, conditions }: Written): Placement {
  const { clusters, ...status } = old.status ?? {};
  const kept = Object.entries(clusters ?? {}).filter(([c]) => !stale.includes(c));
  return {
    ...old,
    status: { ...status, ...(clusters && { clusters: Object.fromEntries(kept) }), conditions },
  };
}

/** The splitter alone writes the status of what is placed; an object that has just gone needs none. */
async function writeRoot(
  cluster: string,
  ref: ObjectRef,
  root: KubeObject,
  status: Record<string, unknown>,
  { client, signal }: SplitterOptions,
): Promise<void> {
  try {
    await commit(client, ref, root, { ...root, status }, { cluster, signal, lock: false });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
