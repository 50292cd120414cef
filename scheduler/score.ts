import { costOf, hasNoNodes, limitsOf } from '../cluster/capacity.ts';
import { addResources, type Resources } from '../cluster/pod-spec.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { approximateQuantity, zeroQuantity } from '../kube/quantity.ts';
import { type Candidate, taintOf } from './filter.ts';

/** What a place is worth, counted once and not with each comparison. */
interface Merit {
  candidate: Candidate;
  isShunned: boolean;
  cost: number;
  free: number;
  pods: number;
}

/**
 * The best place among candidates that no filter objects to: the least cost, then most free capacity, then least used, then by
 * name.
 */
export function best(candidates: readonly Candidate[]): Candidate | undefined {
  let found: Merit | undefined;
  for (const merit of candidates.map(meritOf)) if (!found || compare(merit, found) < 0) found = merit;
  return found?.candidate;
}

/** The `most` best of them, the best first. */
export function ranked(candidates: readonly Candidate[], most: number): Candidate[] {
  const merits = candidates.map(meritOf).sort(compare);
  return merits.slice(0, most).map(({ candidate }) => candidate);
}

function meritOf(candidate: Candidate): Merit {
  return {
    candidate,
    isShunned: isShunned(candidate),
    cost: costOf(candidate.cluster),
    free: freeShare(candidate),
    pods: amountOf(candidate.used, 'pods'),
  };
}

function compare(a: Merit, b: Merit): number {
  return (
    Number(a.isShunned) - Number(b.isShunned) ||
    a.cost - b.cost ||
    b.free - a.free ||
    a.pods - b.pods ||
    (a.candidate.name < b.candidate.name ? -1 : 1)
  );
}

/** What speaks for `chosen`, the best of these. */
export function whyBest(candidates: readonly Candidate[], { cluster }: Candidate): string {
  const cost = costOf(cluster);
  const isCheaper = candidates.some((other) => !isShunned(other) && costOf(other.cluster) > cost);
  return isCheaper ? 'of those that take it, none costs less' : 'it has the most room';
}

function isShunned(candidate: Candidate): boolean {
  return taintOf(candidate, 'PreferNoSchedule') !== undefined;
}

/** Small differences are noise: they must not decide before the name does. */
function freeShare({ cluster, need, used }: Candidate): number {
  return Math.round(Math.max(0, freePart(cluster, addResources(used, need))) * 100);
}

/**
 * Of its scarcest resource the part that is left where so much is taken: 1 at most, below 0 of what is taken beyond its
 * bound. One without known limits has all of it, one without nodes nothing.
 */
export function freePart(cluster: PhysicalCluster | undefined, taken: Resources): number {
  let least = hasNoNodes(cluster) ? 0 : 1;
  for (const [name, limit] of limitsOf(cluster)) {
    const [whole, amount] = [approximateQuantity(limit), amountOf(taken, name)];
    if (whole > 0) least = Math.min(least, 1 - amount / whole);
    // Nodes tell of what they have none of, too: that is scarce only where somebody has asked for it.
    else if (amount > 0) least = Math.min(least, 0);
  }
  return least;
}

export function amountOf(resources: Resources, name: string): number {
  return approximateQuantity(resources.get(name) ?? zeroQuantity);
}
