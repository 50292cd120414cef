import { refKey } from '../cluster/closure.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import { textAt } from '../kube/untyped.ts';
import type { Decided } from './types.ts';
import { leavesOut, type Wish } from './wishes.ts';

/**
 * Where a claim's volume holds data: bound, and not told to leave yet. Nothing but a user's own word may take it
 * from there, since a claim that leaves a cluster is deleted with what is on its volume.
 */
export function boundOn(claim: Placement | undefined): string[] {
  const { shares = {}, ref } = claim?.spec ?? {};
  if (ref?.resource !== 'persistentvolumeclaims') return [];
  const slices = claim?.status?.clusters ?? {};
  return Object.entries(shares).flatMap(([cluster, share]) => {
    const slice = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
    const isBound = slice?.present === true && textAt(slice.status, 'phase') === 'Bound';
    return isBound && share.phase !== 'Leaving' ? [cluster] : [];
  });
}

/** By cluster, the first claim among what a workload requires whose data is there. */
export function claimsOf(
  requires: readonly ClosureRef[],
  placementOf: (ref: ClosureRef) => Placement | undefined,
): Map<string, string> {
  const held = new Map<string, string>();
  for (const ref of requires) {
    for (const cluster of boundOn(placementOf(ref))) if (!held.has(cluster)) held.set(cluster, ref.name);
  }
  return held;
}

/** Where a claim stays for its data, whether or not a workload is there: no user's annotation leaves it out. */
export function heldOn(claim: Placement, own: Wish | undefined, workloads: readonly Decided[]): string[] {
  const bound = boundOn(claim);
  // Most are no claims, and there may be thousands of both.
  if (bound.length === 0) return bound;
  const key = claim.spec && refKey(claim.spec.ref);
  const users = workloads.filter(({ requires }) => requires.some((ref) => refKey(ref) === key));
  const wishes = [own, ...users.map(({ wish }) => wish)];
  return bound.filter((c) => !wishes.some((wish) => leavesOut(wish, c)));
}
