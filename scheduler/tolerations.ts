import { readyOf } from '../cluster/life.ts';
import { unreachableTaint } from '../cluster/names.ts';
import type { Toleration } from '../cluster/policy.ts';
import { type Silence, silenceOf } from '../cluster/silence.ts';
import type { PhysicalCluster, Taint } from '../cluster/types.ts';

/** What drives an object away first, and when, in milliseconds since 1970; 0: at once, Infinity: never. */
export interface Evicting {
  taint: Taint;
  until: number;
  /** The taint stands for it. */
  silence?: Silence;
}

/**
 * Of the taints of a cluster that drive away, and its silence, which counts as one only for those who name it: nothing is
 * made twice that nobody asked for. Undefined: it has none. `listenedSince`: see there.
 */
export function evictingOf(
  cluster: PhysicalCluster,
  tolerations: readonly Toleration[],
  listenedSince = 0,
): Evicting | undefined {
  if (tolerations.length === 0 && !cluster.spec?.taints) return undefined;
  const taints = cluster.spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? [];
  const all: Evicting[] = taints.map((taint) => ({ taint, until: endOf(tolerations, taint) }));
  all.push(...silenceOn(cluster, tolerations, listenedSince));
  return all.reduce<Evicting | undefined>(
    (first, one) => (first && first.until <= one.until ? first : one),
    undefined,
  );
}

/**
 * `heard`: see firstHeard. Since when somebody has listened to whom others answered, in milliseconds since 1970: not before `started`, and not
 * while no cluster was heard of, which says more of us than of them. Who was cut off from all hears of one before the
 * others, and must not take these for lost.
 */
export function listenedSince(heard: number, started: number, now: number): number {
  return Math.max(started, Math.min(now, heard));
}

/** Since when that cluster is Ready which has been for the longest, in milliseconds since 1970; Infinity: none is. */
export function firstHeard(clusters: Iterable<PhysicalCluster>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const cluster of clusters) {
    const ready = readyOf(cluster);
    if (ready?.status === 'True') first = Math.min(first, Date.parse(ready.lastTransitionTime) || 0);
  }
  return first;
}

/** Counted from when it was noticed, not from the last answer: while this server was away nobody listened. */
function silenceOn(
  cluster: PhysicalCluster,
  tolerations: readonly Toleration[],
  listened: number,
): Evicting[] {
  const naming = tolerations.filter(({ key }) => key === unreachableTaint);
  const silence = naming.length > 0 ? silenceOf(cluster) : undefined;
  const since = readyOf(cluster)?.lastTransitionTime;
  if (!silence || !since) return [];
  const timeAdded = new Date(Math.max(Date.parse(since) || 0, listened)).toISOString();
  const taint: Taint = { key: unreachableTaint, effect: 'NoExecute', timeAdded };
  const until = endOf(naming, taint);
  return until === 0 ? [] : [{ taint, until, silence }];
}

/** Until when a taint is tolerated; of several tolerations the shortest counts, as on a node. 0: it is not. */
export function endOf(tolerations: readonly Toleration[], taint: Taint): number {
  const its = tolerations.filter((toleration) => isFor(toleration, taint));
  if (its.length === 0) return 0;
  const ever = Number.POSITIVE_INFINITY;
  const seconds = Math.min(...its.map(({ tolerationSeconds = ever }) => tolerationSeconds));
  if (seconds === ever) return ever;
  return (Date.parse(taint.timeAdded ?? '') || 1) + Math.max(0, seconds) * 1000;
}

/** As a Pod's. https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
function isFor({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || value === (taint.value ?? '');
}
