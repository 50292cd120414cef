import { keyOf, parseKey } from '../client/url.ts';
import { isFinished, placedKind } from '../cluster/kinds.ts';
import { isTombstone } from '../cluster/orphans.ts';
import { silenceOf, whichIs } from '../cluster/silence.ts';
import type { Placement, PlacementSpec } from '../cluster/types.ts';
import { shownAs } from '../controller/ruled.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { consider } from './consider.ts';
import type { Changed } from './copy.ts';
import { lacksOf } from './lacks.ts';
import type { NamespaceDecision } from './types.ts';
import { placementsIn } from './within.ts';
import type { World } from './world.ts';

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
  /** Of a rebalance: why it keeps its Namespace where that is, though elsewhere is clearly more room. */
  kept?: string;
  /** By cluster on which it stays: what it is to have more has no room there. */
  lacks?: Record<string, string>;
  /** Of those where it is to be, the ones that it will wait for, in words: nothing is heard of them. */
  awaits?: string[];
}

/** By cluster. */
export type Counts = Record<string, number>;

export interface Telling {
  /** How many replicas each cluster is to have in the end, where a workload is placed so; empty: it has no number of them. */
  countsOf: (root: KubeObject, spec: PlacementSpec) => Counts;
  /** Clusters about whose rebalance these changes are: of one that rebalances anyway nobody has asked. */
  rebalanced: readonly string[];
}

/** What becomes of what is placed in one Namespace. */
export function planned(key: string, world: World, telling: Telling): PlannedItem[] {
  const placed = placementsIn(world, key);
  const decision = consider(key, world);
  const rootOf = (spec: PlacementSpec) => workloadOf(world, key, spec.ref);
  return itemsOf(placed, decision, key, { ...telling, rootOf, world }).map((item) => {
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

interface Counting extends Telling {
  rootOf: (spec: PlacementSpec) => KubeObject | undefined;
  world: World;
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
    const kept = before && decision.kept.get(before)?.find(({ from }) => counting.rebalanced.includes(from));
    const spec = after?.spec ?? before?.spec;
    if (!spec) return [];
    const isOver = hasEnded(counting.rootOf(spec), spec);
    const from = !before ? [] : isOver ? sharesOf(before) : whereIs(before);
    const clusters = [...(after?.spec?.clusters ?? [])].sort();
    // What has ended comes nowhere.
    const to = isOver ? clusters.filter((c) => from.includes(c)) : clusters;
    const replicas = replicasOf(before?.spec, after?.spec, counting);
    const outcome = outcomeOf(from, to, after?.spec, replicas?.isDividedAnew);
    const root = replicas && counting.rootOf(spec);
    const lacks = root && lacksOf(root, { from, to, replicas }, counting.world);
    return [
      {
        logicalCluster,
        namespace,
        object: objectName(spec.ref),
        workload: placedKind(spec.ref)?.role === 'workload',
        outcome,
        from,
        to,
        ...(replicas && { replicas: { from: replicas.from, to: replicas.to } }),
        reasons: after?.spec?.reasons ?? {},
        ...(kept && outcome !== 'starts' && { kept: kept.why }),
        ...(lacks && { lacks }),
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

export function objectName({
  group,
  resource,
  name,
}: PlacementSpec['ref'] | (Changed['resource'] & { name: string })) {
  return `${resource}${group ? `.${group}` : ''}/${name}`;
}

function hasEnded(root: KubeObject | undefined, { ref }: PlacementSpec): boolean {
  return root !== undefined && root.metadata.uid === ref.uid && isFinished(root);
}

function whereIs(placement: Placement): string[] {
  const { clusters = [] } = placement.spec ?? {};
  const there = isTombstone(placement) ? [] : sharesOf(placement);
  return [...new Set([...clusters, ...there])].sort();
}

function sharesOf({ spec }: Placement): string[] {
  return Object.keys(spec?.shares ?? {}).sort();
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
