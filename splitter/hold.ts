import { kindNamed } from '../cluster/kinds.ts';
import type { Share } from '../cluster/types.ts';
import { covers } from './divide.ts';
import { rangeOf } from './plan.ts';
import { type Next, present, type Scene } from './scene.ts';

/** What keeps copies of a workload where they are although its own targets are ready. */
export interface Hold {
  /** Nothing of it leaves or shrinks for a move; its targets become ready all the same. */
  paused?: boolean | undefined;
  /** Who else must be ready before it leaves a cluster, by kind and name; asked until it has begun to. */
  awaited?: ((cluster: string) => readonly string[]) | undefined;
}

export const paused = 'paused';
/** Of the condition Settled, while others are awaited: whatever changes beside it wakes it. */
export const waitingReason = 'WaitingForOthers';

/** The step without what must not be taken away yet, and why not. */
export function hold(
  scene: Scene,
  next: Next,
  { paused: isPaused, awaited }: Hold,
): { stepped: Next; held: string[] } {
  const isHeld = kindNamed(scene.root.kind)?.role === 'workload' && (isPaused || awaited);
  if (!isHeld || isAlone(scene)) return { stepped: next, held: [] };
  const stepped = new Map(next);
  const held = new Set<string>();
  for (const [cluster, share] of present(scene)) {
    const wanted = next.get(cluster);
    if (wanted && !isLess(wanted, share, scene)) continue;
    const why = isPaused ? [paused] : awaitedAt(scene, cluster, share, awaited);
    if (why.length === 0) continue;
    stepped.set(cluster, share);
    for (const each of why) held.add(each);
  }
  return { stepped, held: [...held].sort() };
}

/** On one cluster and bound for no other: what it shrinks by is no move. */
function isAlone({ shares, plan }: Scene): boolean {
  return new Set([...Object.keys(shares), ...plan.goal.keys()]).size < 2;
}

function awaitedAt(
  { plan }: Scene,
  cluster: string,
  share: Share,
  awaited: Hold['awaited'],
): readonly string[] {
  const leaves = !plan.goal.has(cluster);
  return leaves && share.withdrawing === undefined && awaited ? awaited(cluster) : [];
}

function isLess(wanted: Share, share: Share, { plan: { first } }: Scene): boolean {
  if ((wanted.suspend ?? false) !== (share.suspend ?? false)) return wanted.suspend === true;
  if (share.ordinalsStart !== undefined && wanted.ordinalsStart !== undefined)
    return !covers(rangeOf(wanted, first), rangeOf(share, first));
  return (wanted.replicas ?? 0) < (share.replicas ?? 0);
}
