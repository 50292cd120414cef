import type { Placement, Share } from '../cluster/types.ts';

type Shares = Readonly<Record<string, Share>>;

/*
 * Where an autoscaler has the replicas, its minimum is lowered before they are: one that still has the minimum of before
 * puts them back, and what an autoscaler says counts. Until its cluster has taken the new minimum the share has the
 * replicas of before, and `goal` says how many it is to have; all else is decided as if it had these.
 */

/** The bounds that an autoscaler has taken last, as far as they are known, and whether it has refused others since. */
export interface Told extends Pick<Share, 'replicas' | 'maxReplicas' | 'suspend'> {
  refuses?: boolean;
}

/** Of a cluster; undefined: no autoscaler is known to keep anything there. */
export type ToldAt = (cluster: string) => Told | undefined;

export function toldOf(autoscaler: Placement): ToldAt {
  const { spec, status } = autoscaler;
  return (cluster) => {
    const slice = status?.clusters?.[cluster];
    const share = spec?.shares?.[cluster];
    if (slice?.present !== true || share === undefined || share.phase === 'Leaving') return undefined;
    const { replicas, maxReplicas, suspend } = slice.share ?? {};
    return {
      ...(replicas !== undefined && { replicas }),
      ...(maxReplicas !== undefined && { maxReplicas }),
      // What it was told before says nothing once it is to go on.
      ...(suspend && share.suspend && { suspend }),
      ...(slice.error && { refuses: true }),
    };
  };
}

/** How many it is to have, where it waits for its autoscaler's minimum; ordinals have another goal. */
export function loweredTo({
  goal,
  ordinalsStart,
}: Pick<Share, 'goal' | 'ordinalsStart'>): number | undefined {
  return ordinalsStart === undefined ? goal?.replicas : undefined;
}

/** As if each had what it is to have. */
export function lowered(shares: Shares): Shares {
  return mapped(shares, (share) => {
    const replicas = loweredTo(share);
    return replicas === undefined ? share : { ...withoutGoal(share), replicas };
  });
}

/** What `said`, the number that is there, says of one that waits: between the two it says nothing, and else what it changes. */
export function heardMeanwhile(share: Share, said: number): Share {
  const goal = loweredTo(share);
  const { replicas = 0 } = share;
  if (goal === undefined || said < goal) return { ...withoutGoal(share), replicas: said };
  return { ...share, replicas: said, goal: { replicas: goal + Math.max(0, said - replicas) } };
}

interface How {
  scaling: { total: number } | undefined;
  scaler: { min: number } | undefined;
  toldAt?: ToldAt | undefined;
  /** It stops before it starts elsewhere: it shrinks for what is there nowhere. */
  once: boolean;
  /** How many of its pods are available, as far as is known now; undefined: nothing is heard of it. */
  availableAt(cluster: string): number | undefined;
}

/**
 * `there`: what each has now. Who has waited may find that what it was to shrink for is there no longer: it waits on then, as
 * one of several does that would shrink at once for what is there for one. As many as the whole is to have, or as there are, stay
 * of what is available, and of what of it had settled: nobody goes for what has only just become so.
 */
export function afterMinimum(shares: Shares, there: Shares, how: How): Shares {
  const { scaling, scaler, toldAt, once, availableAt } = how;
  const isLess = (c: string) => (shares[c]?.replicas ?? 0) < (there[c]?.replicas ?? 0);
  const mayWait = (c: string, { ordinalsStart, phase, replicas }: Share) =>
    ordinalsStart === undefined && phase !== 'Leaving' && replicas !== undefined && isLess(c);
  // A minimum above the whole is not lowered: whoever wants fewer than that waits for nothing.
  const lowers = scaling !== undefined && scaler !== undefined && scaler.min <= scaling.total;
  const isKept = (c: string, { replicas = 0 }: Share) => {
    const told = toldAt?.(c);
    return told?.refuses !== true && (told?.replicas ?? 0) > replicas;
  };
  const hasWaited = (c: string) => there[c] !== undefined && loweredTo(there[c]) !== undefined;
  const waiting = new Set<string>();
  const late = new Set<string>();
  for (const [c, share] of lowers ? Object.entries(shares) : []) {
    if (!mayWait(c, share)) continue;
    if (isKept(c, share)) waiting.add(c);
    else if (hasWaited(c) && !once) late.add(c);
  }
  const counted = Object.keys(shares).filter((c) => shares[c]?.phase === 'Active' || late.has(c));
  const isThere = (c: string) => waiting.has(c) || late.has(c);
  const countBy = (most: (c: string) => number) => {
    const of = (c: string, by: Shares) => Math.min(by[c]?.replicas ?? 0, availableAt(c) ?? 0, most(c));
    const now = counted.map((c) => of(c, isThere(c) ? there : shares));
    const spare = now.reduce((sum, n) => sum + n, 0) - (scaling?.total ?? 0);
    return { spare: Math.max(0, spare), lost: (c: string) => of(c, there) - of(c, shares) };
  };
  const counts = [countBy(() => Number.POSITIVE_INFINITY), countBy((c) => settledOf(there[c], shares[c]))];
  for (const c of late) {
    if (availableAt(c) === undefined || counts.some(({ spare, lost }) => lost(c) > spare)) waiting.add(c);
    else for (const count of counts) count.spare -= count.lost(c);
  }
  return mapped(shares, (share, c) => (waiting.has(c) ? kept(share, there[c]) : settledAt(share)));
}

/** How many of it had settled: of one that joins anew those that it had before. */
function settledOf(there: Share | undefined, decided: Share | undefined): number {
  if (there?.phase === 'Active') return Number.POSITIVE_INFINITY;
  return (decided?.phase === 'Active' ? decided.replicas : decided?.settled?.replicas) ?? 0;
}

function settledAt(share: Share): Share {
  return share.ordinalsStart !== undefined || share.phase === 'Leaving' ? share : withoutGoal(share);
}

function kept(decided: Share, before: Share | undefined): Share {
  const { replicas = 0 } = decided;
  const as = before?.phase === 'Active' ? withoutGoal(decided) : (before ?? decided);
  return { ...as, replicas: before?.replicas ?? 0, goal: { replicas } };
}

function withoutGoal({ goal, ...share }: Share): Share {
  return share.ordinalsStart === undefined || !goal ? share : { ...share, goal };
}

function mapped(shares: Shares, make: (share: Share, cluster: string) => Share): Shares {
  return Object.fromEntries(Object.entries(shares).map(([c, share]) => [c, make(share, c)]));
}
