import { isFinished, kindNamed, type Spread } from '../cluster/kinds.ts';
import type { PlacedSpread } from '../cluster/spread.ts';
import type { ClusterSlice, Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, numberAt } from '../kube/untyped.ts';
import { autoscalerBounds, type ScaleTarget } from './autoscaler.ts';
import { divide, divideRanges, type Range, sizeOf } from './divide.ts';
import { divideSpread, isLaidOut } from './spread.ts';

/** The numbers of a share: what a syncer applies. */
export type Part = Pick<
  Share,
  'replicas' | 'maxReplicas' | 'completions' | 'parallelism' | 'ordinalsStart' | 'suspend'
>;

/** The hand-over that it takes: one and bounds are whole to it. */
export type Mode = Exclude<Spread, 'one' | 'bounds'>;

export interface Plan {
  mode: Mode;
  /** What each target has in the end; a wanted cluster that is not in it gets nothing. */
  goal: ReadonlyMap<string, Part>;
  /** counts, ranges: replicas of the whole. */
  total: number;
  /** ranges: the first ordinal of the whole. */
  first: number;
  /** It may not run twice: it is stopped where it is before it starts elsewhere. */
  once?: boolean;
}

/** What a plan starts from where an autoscaler owns the replicas. */
export interface Scaling {
  /** In all. */
  total: number;
  /** It is divided over the wanted clusters already: each keeps what its autoscaler gives it. */
  divided: boolean;
  /** See Scale: as it was before. */
  still?: boolean;
  /** As it is now. */
  stills?: boolean;
}

export type Shares = Readonly<Record<string, Share>>;
export type Slices = Readonly<Record<string, ClusterSlice>>;

const most = 1_000_000_000;

function count(value: number | undefined, otherwise: number): number {
  return Math.min(most, Math.max(0, Math.trunc(value ?? otherwise)));
}

export interface PlanOptions {
  /** What `root` scales, where it is an autoscaler and that is known. */
  target?: ScaleTarget | undefined;
  /** Where an autoscaler scales `root`. */
  scaling?: Scaling | undefined;
  /** It uses a volume that one node alone may have. */
  hasOwnVolume?: boolean | undefined;
  /** Data of volumes that all of its pods use comes along: it is quiet then. */
  takesVolumes?: boolean | undefined;
  /** As its Placement has it. */
  spread?: PlacedSpread | undefined;
}

/** `clusters` is where it should be; `previous` makes the answer stable. */
export function planFor(
  root: KubeObject,
  clusters: readonly string[],
  previous: Shares,
  options: PlanOptions = {},
): Plan {
  const plan = spread(root, clusters, previous, options);
  return runsOnce(root, plan, options) ? { ...plan, once: true } : plan;
}

/** Whether a workload breaks before it is made, as far as its object says. */
export function breaksFirst(
  root: KubeObject,
  volumes: Pick<PlanOptions, 'hasOwnVolume' | 'takesVolumes'>,
): boolean {
  const total = count(numberAt(root, 'spec', 'replicas'), 1);
  const mode = kindNamed(root.kind)?.spread === 'ranges' ? 'ranges' : 'counts';
  return runsOnce(root, { mode, goal: new Map(), total, first: 0 }, volumes);
}

/** A StatefulSet's pods always; others where their strategy says so, or one pod has a volume to itself. */
function runsOnce(
  root: KubeObject,
  { mode, total }: Plan,
  { hasOwnVolume, takesVolumes }: PlanOptions,
): boolean {
  if (mode === 'ranges') return true;
  if (kindNamed(root.kind)?.identity !== 'asked') return false;
  if (takesVolumes && mode === 'counts') return true;
  return at(root, 'spec', 'strategy', 'type') === 'Recreate' || (hasOwnVolume === true && total <= 1);
}

function spread(
  root: KubeObject,
  clusters: readonly string[],
  previous: Shares,
  { target, scaling, spread: over }: PlanOptions,
): Plan {
  const sorted = [...clusters].sort();
  const there = new Map(Object.entries(previous).filter(([, share]) => share.phase !== 'Leaving'));
  const stayersFirst = [...sorted.filter((c) => there.has(c)), ...sorted.filter((c) => !there.has(c))];
  switch (kindNamed(root.kind)?.spread) {
    case 'counts':
      return planCounts(root, sorted, there, { scaling, over });
    case 'ranges':
      return planRanges(root, sorted, there, { scaling, over });
    case 'single':
      return planSingle(sorted, there);
    case 'batch':
      return planBatch(root, stayersFirst);
    case 'one':
      return whole(isFinished(root) ? 'batch' : 'whole', stayersFirst.slice(0, 1));
    case 'bounds':
      return { mode: 'whole', goal: autoscalerBounds(root, sorted, target), total: 1, first: 0 };
    case 'whole':
    case undefined:
      return whole('whole', sorted);
  }
}

function whole(mode: Mode, clusters: readonly string[]): Plan {
  return { mode, goal: new Map(clusters.map((c) => [c, {}])), total: 1, first: 0 };
}

interface How {
  scaling: Scaling | undefined;
  over: PlacedSpread | undefined;
}

function planCounts(
  root: KubeObject,
  clusters: readonly string[],
  there: ReadonlyMap<string, Share>,
  { scaling, over }: How,
): Plan {
  const total = scaling?.total ?? count(numberAt(root, 'spec', 'replicas'), 1);
  const current = mapValues(there, (share) => share.replicas ?? 0);
  const parts = scaling?.divided
    ? new Map(clusters.map((c) => [c, current.get(c) ?? 0]))
    : ((over && divideSpread(total, clusters, current, over)) ?? divide(total, clusters, current));
  return { mode: 'counts', goal: mapValues(parts, (replicas) => ({ replicas })), total, first: 0 };
}

/** The ordinals of a share; without its own start it begins where the whole does. */
export function rangeOf(part: Part | undefined, first: number): Range {
  const start = part?.ordinalsStart ?? first;
  return { start, end: start + (part?.replicas ?? 0) };
}

function planRanges(
  root: KubeObject,
  clusters: readonly string[],
  there: ReadonlyMap<string, Share>,
  { scaling, over }: How,
): Plan {
  const total = scaling?.total ?? count(numberAt(root, 'spec', 'replicas'), 1);
  const first = count(numberAt(root, 'spec', 'ordinals', 'start'), 0);
  const current = mapValues(there, (share) => rangeOf(share.goal ?? share, first));
  const had = mapValues(current, sizeOf);
  const sizes = over && divideSpread(total, clusters, had, over);
  const anew = over && !scaling && isLaidOut(root, total, over);
  const parts = divideRanges({ start: first, end: first + total }, clusters, current, { sizes, anew });
  const goal = mapValues(parts, ({ start, end }) => ({ replicas: end - start, ordinalsStart: start }));
  return { mode: 'ranges', goal, total, first };
}

/** Who runs it goes on running it while it is wanted. */
function planSingle(clusters: readonly string[], there: ReadonlyMap<string, Share>): Plan {
  const holder = clusters.find((c) => there.has(c) && there.get(c)?.suspend !== true) ?? clusters[0];
  const goal = new Map(clusters.map((c) => [c, c === holder ? {} : { suspend: true }]));
  return { mode: 'single', goal, total: 1, first: 0 };
}

/**
 * A part with completions but no parallelism would never end, so there are no more parts than pods may run at
 * once. An Indexed Job stays whole: a part of it would count its indexes from zero again.
 */
function planBatch(root: KubeObject, clusters: readonly string[]): Plan {
  const parallelism = count(numberAt(root, 'spec', 'parallelism'), 1);
  const completions = numberAt(root, 'spec', 'completions');
  const indexed = at(root, 'spec', 'completionMode') === 'Indexed';
  const parts = indexed ? 1 : Math.max(1, Math.min(clusters.length, parallelism, completions ?? most));
  const chosen = clusters.slice(0, parts);
  if (chosen.length === 1) return whole('batch', chosen);
  const perCluster = divide(parallelism, chosen);
  const perCompletion = completions === undefined ? undefined : divide(count(completions, 1), chosen);
  const goal = mapValues(perCluster, (n, c) => ({
    parallelism: n,
    ...(perCompletion && { completions: perCompletion.get(c) ?? 0 }),
  }));
  return { mode: 'batch', goal, total: 1, first: 0 };
}

function mapValues<A, B>(of: ReadonlyMap<string, A>, make: (value: A, key: string) => B): Map<string, B> {
  return new Map([...of].map(([key, value]) => [key, make(value, key)]));
}
