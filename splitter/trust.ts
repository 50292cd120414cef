import { askedSince } from '../cluster/heard.ts';
import { kindNamed } from '../cluster/kinds.ts';
import { leavesUnheard } from '../cluster/share.ts';
import type { Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { covers } from './divide.ts';
import { type Plan, rangeOf, type Shares, type Slices } from './plan.ts';
import { availableOf, isLeftToOwner, isServingNow } from './ready.ts';

/** What makes a target count, besides its share: asked whenever somebody else would shrink. */
export interface Witness {
  root: KubeObject;
  slices: Slices;
  /** When its physical cluster was last heard of, in milliseconds since 1970; undefined: it is not Ready. */
  heardAt(cluster: string): number | undefined;
  /**
   * Whether a Service there leads nobody to it: it was withdrawn, and its cluster has not said that it is no longer. Whoever
   * shrinks on the strength of such a share takes pods that are reached, for pods that are not.
   */
  isClosed?: ((cluster: string) => boolean) | undefined;
}

/** It has more than its goal, and is to give it up as soon as the targets allow it, and it is heard of. */
function gives({ mode, goal, first }: Plan, cluster: string, share: Share): boolean {
  if (share.phase === 'Leaving' || leavesUnheard(share) || mode === 'batch') return false;
  const part = goal.get(cluster);
  if (!part) return true;
  if (mode === 'counts') return (share.replicas ?? 0) > (part.replicas ?? 0);
  if (mode === 'ranges') return !covers(rangeOf(part, first), rangeOf(share, first));
  return mode === 'single' && part.suspend === true && share.suspend !== true;
}

/** Others are to go, or to shrink, on the strength of this target. */
export function isLeanedOn(root: KubeObject, plan: Plan, shares: Shares, cluster: string): boolean {
  if (kindNamed(root.kind)?.passive || !plan.goal.has(cluster)) return false;
  return Object.entries(shares).some(([other, share]) => other !== cluster && gives(plan, other, share));
}

/**
 * Of those that are to leave, and keep replicas until the targets are there: whether others go, or shrink where they stay, on
 * the strength of these too.
 */
export function isKeptFor(plan: Plan, shares: Shares, cluster: string): boolean {
  if (plan.mode !== 'counts' || plan.once || plan.goal.has(cluster)) return false;
  // What has never settled is relied on by what leaves, and by what has not settled either.
  const isAsked = shares[cluster]?.phase === 'Active';
  return Object.entries(shares).some(
    ([other, share]) =>
      other !== cluster &&
      (isAsked || !plan.goal.has(other) || share.phase === 'Joining') &&
      gives(plan, other, share),
  );
}

/**
 * Whether what was once ready still is, as far as it is counted on: of a divided workload as many as it keeps. Its
 * generation is not asked: what an update is about to change serves until then.
 */
export function isSound(witness: Witness, plan: Plan, cluster: string, share: Share): boolean {
  if (witness.heardAt(cluster) === undefined || witness.isClosed?.(cluster)) return false;
  const slice = Object.hasOwn(witness.slices, cluster) ? witness.slices[cluster] : undefined;
  if (isLeftToOwner(witness.root, slice)) return true;
  if (plan.mode === 'counts' || plan.mode === 'ranges') {
    const { replicas = 0 } = plan.goal.get(cluster) ?? {};
    return availableOf(share, slice) >= Math.min(replicas, share.replicas ?? 0);
  }
  const others = Object.entries(witness.slices).flatMap(([other, said]) => (other === cluster ? [] : [said]));
  return slice?.present === true && isServingNow(witness.root, share, slice, others);
}

/**
 * How many of a share's replicas must be ready before it is counted on: what it is to keep. What it holds beyond that
 * until others are there may never become ready.
 */
export function countedOf({ mode, once, goal }: Plan, cluster: string, share: Share): number | undefined {
  const wanted = goal.get(cluster)?.replicas;
  if (mode !== 'counts' || once || wanted === undefined || share.replicas === undefined)
    return share.replicas;
  return Math.min(wanted, share.replicas);
}

export function wasHeard({ heardAt }: Pick<Witness, 'heardAt'>, cluster: string, share: Share): boolean {
  const heard = heardAt(cluster);
  return heard !== undefined && heard >= (askedSince(share) ?? 0);
}

/**
 * Asks each target on whose strength others would go for a word: since `now`, when that begins, and again since the
 * last of the others became ready. Their share tells their syncer. Where nobody would go there is nothing to ask.
 */
export function withQuestions(
  { root, now }: { root: KubeObject; now: number },
  plan: Plan,
  shares: Shares,
  since = 0,
): Shares {
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, share]): [string, Share] => {
      const { heardSince, ...rest } = share;
      const isKept = isKeptFor(plan, shares, cluster);
      const isWaitedFor = share.phase === 'Joining' && share.readySince !== undefined;
      const isAsked =
        share.phase === 'Active'
          ? isKept || isLeanedOn(root, plan, shares, cluster)
          : share.phase === 'Joining' && isKept && !isWaitedFor;
      if (!isAsked) return [cluster, rest];
      // A clock that was set back must not make anyone wait until it has come to where it was.
      const before = Math.min(now, Date.parse(heardSince ?? '') || now);
      const asked = isKept ? before : Math.max(since, before);
      return [cluster, { ...rest, heardSince: new Date(asked).toISOString() }];
    }),
  );
}
