import type { Placement, Share } from '../cluster/types.ts';

type Shares = Readonly<Record<string, Share>>;

/*
 * Where an autoscaler has the replicas, its minimum is lowered before they are: one that still has the minimum of before
 * puts them back, and what an autoscaler says counts. Until its cluster has taken the new minimum the share has the
 * replicas of before, and `goal` says how many it is to have; all else is decided as if it had these.
 */

/** Of a cluster, the minimum that its autoscaler was last told; undefined: nothing is known to keep anything there. */
export type FloorAt = (cluster: string) => number | undefined;

export function floorsOf(autoscaler: Placement): FloorAt {
  const { spec, status } = autoscaler;
  return (cluster) => {
    const slice = status?.clusters?.[cluster];
    const share = spec?.shares?.[cluster];
    const isKept =
      slice?.present === true && !slice.error && share !== undefined && share.phase !== 'Leaving';
    return isKept ? slice.share?.replicas : undefined;
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

/** `there`: what each has now. */
export function afterMinimum(
  shares: Shares,
  there: Shares,
  how: {
    scaling: { total: number } | undefined;
    scaler: { min: number } | undefined;
    floorAt?: FloorAt | undefined;
  },
): Shares {
  const { scaling, scaler, floorAt } = how;
  return mapped(shares, (share, cluster) => {
    if (share.ordinalsStart !== undefined || share.phase === 'Leaving') return share;
    const decided = withoutGoal(share);
    const { replicas } = decided;
    const before = there[cluster];
    // A minimum above the whole is not lowered: whoever wants fewer than that waits for nothing.
    if (replicas === undefined || !before || !scaling || !scaler || scaler.min > scaling.total)
      return decided;
    const isLess = replicas < (before.replicas ?? 0);
    if (!isLess || (floorAt?.(cluster) ?? 0) <= replicas) return decided;
    const kept = before.phase === 'Active' ? decided : before;
    return { ...kept, replicas: before.replicas ?? 0, goal: { replicas } };
  });
}

function withoutGoal({ goal, ...share }: Share): Share {
  return share.ordinalsStart === undefined || !goal ? share : { ...share, goal };
}

function mapped(shares: Shares, make: (share: Share, cluster: string) => Share): Shares {
  return Object.fromEntries(Object.entries(shares).map(([c, share]) => [c, make(share, c)]));
}
