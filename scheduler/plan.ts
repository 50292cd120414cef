import { setImmediate } from 'node:timers/promises';
import { keyOf, logicalClusterOf, objectKey, parseKey } from '../client/url.ts';
import { limitsOf } from '../cluster/capacity.ts';
import { placedKind } from '../cluster/kinds.ts';
import { physicalClusters } from '../cluster/names.ts';
import { isTombstone } from '../cluster/orphans.ts';
import { clusterPlacementPolicies } from '../cluster/policy.ts';
import { silenceOf, whichIs } from '../cluster/silence.ts';
import type { PhysicalCluster, Placement, PlacementSpec } from '../cluster/types.ts';
import { shownAs } from '../controller/ruled.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { consider } from './controller.ts';
import type { Changed } from './copy.ts';
import { freePart } from './score.ts';
import { rebalances } from './turns.ts';
import type { NamespaceDecision } from './types.ts';
import { nothingUsed } from './usage.ts';
import { wakeConcerned } from './wake.ts';
import { namespaceKey, namespacesOf, placementsIn, takeStock, type World } from './world.ts';

/** What becomes of one placed object. */
export interface PlannedItem {
  /** By its id. */
  logicalCluster: string;
  namespace: string;
  /** `deployments.apps/web` */
  object: string;
  workload: boolean;
  /**
   * starts: it was nowhere. moves: it, or some of its replicas, is to be elsewhere. leaves: it is to be nowhere. blocked: it is not
   * where it ought to be, and cannot get there.
   */
  outcome: 'starts' | 'moves' | 'leaves' | 'stays' | 'blocked';
  /** Physical clusters, sorted: where it is, also on its way there or from there; where it is to be. */
  from: string[];
  to: string[];
  /** Of what has a number of replicas: how many are where, also of shares that come or go, and how many are to be. */
  replicas?: { from: Counts; to: Counts };
  /** A sentence for each cluster that was chosen or refused. */
  reasons: Record<string, string>;
  /** Of a rebalance: what keeps it, and its Namespace with it, where it is, though elsewhere is clearly more room. */
  kept?: string;
  /** Of those where it is to be, the ones that it will wait for, in words: nothing is heard of them. */
  awaits?: string[];
}

/** By cluster of which it is known, how many points of a hundred are free once all that is on its way has arrived: before, and after. */
export interface Room {
  before: Counts;
  after: Counts;
}

/** By cluster. */
export type Counts = Record<string, number>;

export interface PlanOptions {
  /** How many replicas each cluster is to have in the end, where a workload is placed so; empty: it has no number of them. */
  countsOf: (root: KubeObject, spec: PlacementSpec) => Counts;
  signal?: AbortSignal;
}

/**
 * What the scheduler would do, were `changes` made: in `world`, a copy that has them already, and that this uses up. Only
 * what these changes concern is told, workloads first. Where room is short, who comes first gets it: here by name.
 */
export async function planOf(
  world: World,
  changes: readonly Changed[],
  { countsOf, signal }: PlanOptions,
): Promise<PlannedItem[]> {
  takeStock(world);
  // Whose turn comes when, nobody asks of a plan.
  world.inTurns = false;
  const items = new Map<string, PlannedItem[]>();
  const moves = (key: string) => items.get(key)?.some(({ outcome }) => outcome === 'moves') === true;
  const isRebalanced = [...world.clusters.values()].some(rebalances);
  let keys = [...concernedBy(world, changes)].sort();
  do {
    for (const key of keys) {
      signal?.throwIfAborted();
      items.set(key, planned(key, world, countsOf));
      // Requests wait behind this.
      await setImmediate();
    }
    // What moves may leave room for others, or somewhere to go: see scheduler/rounds.ts.
    const left = keys.filter((key) => !moves(key));
    keys = isRebalanced && left.length < keys.length ? left : [];
  } while (keys.length > 0);
  const tells = isTold(changes);
  return [...items.values()]
    .flat()
    .filter(tells)
    .sort((a, b) => Number(b.workload) - Number(a.workload));
}

/** Of a copy that no plan has been made of, before; of one that has, after. */
export function roomIn(world: World): Counts {
  if (world.inTurns) takeStock(world);
  const known = [...world.clusters.values()].filter((cluster) => limitsOf(cluster).size > 0);
  return Object.fromEntries(
    known.map((cluster) => {
      const { name = '' } = cluster.metadata;
      const free = freePart(cluster, world.settled.total.get(name) ?? nothingUsed);
      return [name, Math.max(0, Math.round(free * 100))];
    }),
  );
}

function planned(key: string, world: World, countsOf: PlanOptions['countsOf']): PlannedItem[] {
  const placed = placementsIn(world, key);
  const decision = consider(key, world);
  const counted = { rootOf: (spec: PlacementSpec) => workloadOf(world, key, spec.ref), countsOf };
  return itemsOf(placed, decision, key, counted).map((item) => {
    const awaits = awaitedBy(item, world);
    return awaits.length > 0 ? { ...item, awaits } : item;
  });
}

function awaitedBy({ outcome, to }: PlannedItem, { clusters }: World): string[] {
  if (outcome === 'stays' || outcome === 'blocked') return [];
  return [...clusters.values()]
    .filter(({ metadata: { name = '' } }) => to.includes(name))
    .flatMap((cluster) => {
      const silence = silenceOf(cluster);
      return silence ? [`${cluster.metadata.name}, ${whichIs(silence)}`] : [];
    });
}

function isCluster({ resource }: Changed): boolean {
  return resource.group === physicalClusters.group && resource.resource === physicalClusters.resource;
}

/** A policy of a logical cluster, which may be about any of its Namespaces, or of root: of all. */
function isWide({ resource }: Changed): boolean {
  const { group, resource: policies } = clusterPlacementPolicies;
  return resource.group === group && resource.resource === policies;
}

/** The keys of the Namespaces about which the scheduler would decide anew. */
function concernedBy(world: World, changes: readonly Changed[]): Set<string> {
  const keys = new Set<string>();
  // Which Namespaces a policy leaves open to any cluster, only a decision says.
  const isOpen = world.policies.size + world.clusterPolicies.size > 0;
  if (isOpen && changes.some(isCluster))
    for (const placement of world.placements.values()) keys.add(namespaceKey(placement));
  for (const changed of changes) {
    const { object } = changed;
    if (isCluster(changed)) wakeConcerned(world, keys, object as PhysicalCluster);
    else if (isWide(changed))
      for (const namespace of namespacesOf(world, logicalClusterOf(object))) keys.add(objectKey(namespace));
    else keys.add(object.metadata.namespace === undefined ? objectKey(object) : namespaceKey(object));
  }
  return keys;
}

/** What moves; what cannot leave a changed cluster, or is in a changed Namespace; and what was named. */
function isTold(changes: readonly Changed[]): (item: PlannedItem) => boolean {
  const clusters = new Set(changes.filter(isCluster).map(({ object }) => object.metadata.name));
  const named = new Set<string>();
  const within = new Set<string>();
  for (const { resource, object } of changes.filter((changed) => !isCluster(changed))) {
    const { namespace, name = '' } = object.metadata;
    const at = keyOf(logicalClusterOf(object), namespace ?? name, '');
    within.add(at);
    named.add(at + objectName({ ...resource, name }));
  }
  return (item) => {
    const at = keyOf(item.logicalCluster, item.namespace, '');
    if (item.outcome === 'stays') return item.kept !== undefined || named.has(at + item.object);
    if (item.outcome !== 'blocked' || changes.some(isWide)) return true;
    return within.has(at) || [...item.from, ...Object.keys(item.reasons)].some((name) => clusters.has(name));
  };
}

interface Counting extends Pick<PlanOptions, 'countsOf'> {
  rootOf: (spec: PlacementSpec) => KubeObject | undefined;
}

function itemsOf(
  placed: readonly Placement[],
  decision: NamespaceDecision,
  key: string,
  counting: Counting,
): PlannedItem[] {
  const [logicalCluster = '', , namespace = ''] = key.split('/');
  const now = new Map(decision.update.map(({ old, wanted }) => [old, wanted]));
  const removed = new Set(decision.remove);
  const item = (before: Placement | undefined, after: Placement | undefined): PlannedItem[] => {
    const kept = before && decision.kept.get(before);
    const spec = after?.spec ?? before?.spec;
    if (!spec) return [];
    const from = before ? whereIs(before) : [];
    const to = [...(after?.spec?.clusters ?? [])].sort();
    const replicas = replicasOf(before?.spec, after?.spec, counting);
    return [
      {
        logicalCluster,
        namespace,
        object: objectName(spec.ref),
        workload: placedKind(spec.ref)?.role === 'workload',
        outcome: outcomeOf(from, to, after?.spec, replicas?.isDividedAnew),
        from,
        to,
        ...(replicas && { replicas: { from: replicas.from, to: replicas.to } }),
        reasons: after?.spec?.reasons ?? {},
        ...(kept !== undefined && { kept }),
      },
    ];
  };
  return [
    ...placed.flatMap((old) => item(old, removed.has(old) ? undefined : (now.get(old) ?? old))),
    ...decision.create.flatMap((created) => item(undefined, created)),
  ];
}

function workloadOf(world: World, key: string, ref: PlacementSpec['ref']): KubeObject | undefined {
  const { cluster, name: namespace } = parseKey(key);
  const at = keyOf(cluster, namespace, ref.name);
  const kind = placedKind(ref);
  if (!ref.rule) return kind && world.objects.get(kind)?.get(at);
  const object = world.ruled.of(ref)?.get(at);
  return object && shownAs(object, ref);
}

function objectName({
  group,
  resource,
  name,
}: PlacementSpec['ref'] | (Changed['resource'] & { name: string })) {
  return `${resource}${group ? `.${group}` : ''}/${name}`;
}

function whereIs(placement: Placement): string[] {
  const { clusters = [], shares = {} } = placement.spec ?? {};
  const there = isTombstone(placement) ? [] : Object.keys(shares);
  return [...new Set([...clusters, ...there])].sort();
}

/** Undefined of what has no number of replicas. */
function replicasOf(
  before: PlacementSpec | undefined,
  after: PlacementSpec | undefined,
  { rootOf, countsOf }: Counting,
): { from: Counts; to: Counts; isDividedAnew: boolean } | undefined {
  const spec = after ?? before;
  const root = spec && placedKind(spec.ref)?.role === 'workload' ? rootOf(spec) : undefined;
  if (!spec || root?.metadata.uid !== spec.ref.uid) return undefined;
  const goal = countsOf(root, spec);
  const to = after ? goal : {};
  const shares = Object.entries(before?.shares ?? {});
  const from = Object.fromEntries(
    shares.flatMap(([name, { replicas }]) => (replicas === undefined ? [] : [[name, replicas]])),
  );
  if (Object.keys(goal).length + Object.keys(from).length === 0) return undefined;
  // What is under way already is nothing that these changes do.
  const isOther = before !== undefined && !deepEqual(countsOf(root, before), to);
  const changed = Object.entries(to).map(([name, n]) => n - (getOwn(from, name) ?? n));
  return { from, to, isDividedAnew: isOther && changed.some((n) => n < 0) && changed.some((n) => n > 0) };
}

function outcomeOf(
  from: string[],
  to: string[],
  after: PlacementSpec | undefined,
  isDividedAnew = false,
): PlannedItem['outcome'] {
  if (after?.blocked === true) return 'blocked';
  if (deepEqual(from, to)) return isDividedAnew ? 'moves' : 'stays';
  if (from.length === 0) return 'starts';
  return to.length === 0 ? 'leaves' : 'moves';
}
