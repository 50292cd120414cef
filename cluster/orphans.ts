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

/**
 * The shares of what is orphaned, before it is let go. On its way elsewhere it has more than its replicas: its pods are left once, where it
 * has not left yet and all of them are there, with as few too many as may be, counted on if so and else as many, and what is too many
 * goes. Unchanged where that is not known, or nothing is: what of `silent` clusters is said may be of pods that died with them.
 */
export function leftOnce(
  { ref, clusters, shares = {} }: PlacementSpec,
  slices: Readonly<Record<string, ClusterSlice>> = {},
  silent: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Record<string, Share> {
  if (placedKind(ref)?.spread !== 'counts') return shares;
  const all = Object.entries(shares);
  const isTarget = ([cluster]: Shared) => clusters.includes(cluster);
  const hasLeft = ([, share]: Shared) => share.phase === 'Leaving' || leavesUnheard(share);
  const isCounted = ([, { phase, settled, withdrawing }]: Shared) =>
    phase === 'Active' || settled !== undefined || withdrawing?.from === 'Active';
  const isMade = ([c, { replicas = 0 }]: Shared) =>
    replicas > 0 && (numberAt(getOwn(slices, c), 'status', 'replicas') ?? 0) >= replicas;
  const sum = (some: readonly Shared[]) => some.reduce((n, [, { replicas = 0 }]) => n + replicas, 0);
  const targets = all.filter((one) => isTarget(one) && !hasLeft(one));
  const former = all.filter((one) => !isTarget(one) && !hasLeft(one));
  const [whole] = [isCounted, isMade]
    .flatMap((isThere) => [former.filter(isThere), [...former, ...targets].filter(isThere)])
    .concat([targets.filter(isMade)])
    .filter((some) => some.length > 0 && sum(some) >= sum(targets))
    .sort((one, other) => sum(one) - sum(other));
  const kept = former.length === 0 ? targets : whole;
  if (kept === undefined || kept.length === 0 || kept.some(([c]) => silent.has(c))) return shares;
  const isKept = new Set(kept.map(([cluster]) => cluster));
  return Object.fromEntries(
    all.map(([c, share]) => [c, isKept.has(c) ? share : { ...share, surplus: true }]),
  );
}
