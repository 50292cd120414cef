import type { KubeObject } from '../kube/object.ts';
import { getOwn, numberAt } from '../kube/untyped.ts';
import { placedKind } from './kinds.ts';
import { leavesUnheard } from './share.ts';
import type { ClusterSlice, Placement, PlacementSpec, Share } from './types.ts';

/** Deleted with propagationPolicy Orphan, and the garbage collector has yet to note it in the Placement. */
export function isBeingOrphaned({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('orphan') === true;
}

/** Its object was orphaned: the record stands for what that left behind. */
export function isTombstone({ spec }: Placement): boolean {
  return spec?.orphaned !== undefined && spec.orphaned === spec.ref.uid;
}

type Shared = readonly [cluster: string, share: Share];

interface Whole {
  slices?: Readonly<Record<string, ClusterSlice>> | undefined;
  /** What is said of them may be of pods that died with them. */
  silent?: Pick<ReadonlySet<string>, 'has'>;
  /** How many replicas the object has; default: as many as its targets. */
  total?: number | undefined;
}

/**
 * The shares of what is orphaned, before it is let go. On its way elsewhere it has more than its replicas: its pods are left once, where it
 * has not left yet and all of them are there. First where as many as may be are ready, then with as few too many as may be, then where it is
 * counted on; and what is too many goes, of what is kept first what is not ready, then what came last. Unchanged where that is not known, or nothing is.
 */
export function leftOnce(
  { ref, clusters, shares = {} }: PlacementSpec,
  { slices = {}, silent = new Set(), total }: Whole = {},
): Record<string, Share> {
  if (placedKind(ref)?.spread !== 'counts') return shares;
  const all = Object.entries(shares);
  const isTarget = ([cluster]: Shared) => clusters.includes(cluster);
  const hasLeft = ([, share]: Shared) => share.phase === 'Leaving' || leavesUnheard(share);
  const said = (c: string, field: string) => numberAt(getOwn(slices, c), 'status', field) ?? 0;
  const isMade = ([c, { replicas = 0 }]: Shared) => replicas > 0 && said(c, 'replicas') >= replicas;
  const sum = (some: readonly Shared[]) => some.reduce((n, [, { replicas = 0 }]) => n + replicas, 0);
  const targets = all.filter((one) => isTarget(one) && !hasLeft(one));
  const former = all.filter((one) => !isTarget(one) && !hasLeft(one));
  const enough = total ?? sum(targets);
  const readyOf = ([c, share]: Shared) =>
    getOwn(slices, c)?.status ? Math.min(said(c, 'readyReplicas'), share.replicas ?? 0) : countedOf(share);
  const ready = (some: readonly Shared[]) =>
    Math.min(
      enough,
      some.reduce((n, one) => n + readyOf(one), 0),
    );
  const [whole] = [isCounted, isMade]
    .flatMap((isThere) => {
      const alone = all.filter((one) => !hasLeft(one) && isThere(one)).map((one) => [one]);
      return [former.filter(isThere), [...former, ...targets].filter(isThere), ...alone];
    })
    .concat([targets.filter(isMade)])
    .filter((some) => some.length > 0 && sum(some) >= enough)
    .sort((one, other) => ready(other) - ready(one) || sum(one) - sum(other));
  const kept = former.length === 0 && sum(targets) <= enough ? targets : whole;
  if (kept === undefined || kept.length === 0 || kept.some(([c]) => silent.has(c))) return shares;
  const few = new Map(total === undefined ? kept : noMoreThan(kept, total, readyOf));
  return Object.fromEntries(all.map(([c, share]) => [c, few.get(c) ?? { ...share, surplus: true }]));
}

/** What an autoscaler scales has as many as that gives it. */
function noMoreThan(
  kept: readonly Shared[],
  enough: number,
  readyOf: (one: Shared) => number,
): readonly Shared[] {
  if (kept.some(([, { scaled }]) => scaled !== undefined)) return kept;
  let excess = kept.reduce((n, [, { replicas = 0 }]) => n + replicas, 0) - enough;
  const counts = new Map(kept.map(([c, { replicas = 0 }]) => [c, replicas]));
  for (const keep of [readyOf, () => 0]) {
    for (const one of [...kept].reverse()) {
      const now = counts.get(one[0]) ?? 0;
      const less = Math.max(0, Math.min(excess, now - keep(one)));
      counts.set(one[0], now - less);
      excess -= less;
    }
  }
  return kept.map(([c, share]) => {
    const replicas = counts.get(c) ?? 0;
    return [c, replicas === (share.replicas ?? 0) ? share : { ...share, replicas }];
  });
}

function isCounted([, { phase, settled, withdrawing }]: Shared): boolean {
  return phase === 'Active' || settled !== undefined || withdrawing?.from === 'Active';
}

/** How many were ready there for as long as they have to be. */
function countedOf(share: Share): number {
  if (!isCounted(['', share])) return 0;
  return share.settled?.replicas ?? share.replicas ?? 0;
}
