import type { Share } from '../cluster/types.ts';
import { comesBack, hasCopied, isCopiedTo, isWrittenThere, soleTaker, takesData } from './copies.ts';
import { failuresOf } from './copy-step.ts';
import { type Next, newcomer, present, type Scene } from './scene.ts';
import { allCountedOn, heldCount, isAtRest, isHeard, isSeen } from './stopped.ts';

/** Of those that are alike never more than the whole has; when the targets are there, all that is to move stops. */
export function nextCountsOnce(scene: Scene): Next {
  const { goal, total } = scene.plan;
  const goalOf = (c: string) => goal.get(c)?.replicas ?? 0;
  const shares = present(scene);
  let excess = shares.reduce((sum, [, share]) => sum + (share.replicas ?? 0), 0) - total;
  const failures = failuresOf(scene, scene.shares);
  const mayBreak = isAtRest(scene) && allCountedOn(scene) && failures.length === 0;
  const next: Next = new Map();
  // What is too many goes at once, first where it is not counted on.
  const order = [...shares].sort(
    ([a, x], [b, y]) => Number(x.phase === 'Active') - Number(y.phase === 'Active') || (a < b ? -1 : 1),
  );
  for (const [cluster, share] of order) {
    if (comesBack(scene, scene.shares, cluster)) {
      const cameBack = share.held?.since;
      next.set(cluster, { ...recounted(scene, share, heldCount(share)), ...(cameBack && { cameBack }) });
      continue;
    }
    const now = share.replicas ?? 0;
    const surplus = Math.max(0, now - goalOf(cluster));
    const mayStop = mayBreak && isSeen(scene, cluster);
    const less = mayStop ? surplus : Math.max(0, Math.min(surplus, excess));
    excess -= less;
    const left = goal.has(cluster) || now > less ? recounted(scene, share, now - less) : undefined;
    const kept = left ?? keptForData(scene, cluster, share, mayStop);
    if (kept) next.set(cluster, kept);
  }
  let free = freeOf(scene);
  for (const cluster of goal.keys()) {
    const share = next.get(cluster);
    const now = share?.replicas ?? 0;
    const isAwaited = awaitsData(scene, cluster);
    const isThere = isHeard(scene, cluster) && !isAwaited;
    const more = isThere ? Math.max(0, Math.min(free, goalOf(cluster) - now)) : 0;
    free -= more;
    const part = share ? recounted(scene, share, now + more) : newcomer({ replicas: more });
    const { fresh = !share, ...rest } = part;
    next.set(cluster, { ...rest, ...(fresh && isAwaited && { fresh }) });
  }
  // What stays for want of its data elsewhere grows where it is.
  for (const { from } of failures) {
    const share = next.get(from);
    if (!share) continue;
    next.set(from, recounted(scene, share, (share.replicas ?? 0) + Math.max(0, free)));
    free = 0;
  }
  return next;
}

/** How many nobody has, nor holds but to have its data taken from it. */
function freeOf(scene: Scene): number {
  const { total } = scene.plan;
  const taker = [...scene.plan.goal.keys()][0] ?? '';
  return Object.entries(scene.shares).reduce((n, [cluster, share]) => {
    const isTaken = isCopiedTo(scene, cluster, share, taker);
    return n - (isTaken ? (share.replicas ?? 0) : heldCount(share));
  }, total);
}

/**
 * What is to start there is not all there, or is not let go of by who brings it: that of what still runs elsewhere neither, however
 * many more there are to be.
 */
function awaitsData(scene: Scene, cluster: string): boolean {
  if (isWrittenThere(scene, cluster)) return true;
  if (!takesData(scene) || (scene.shares[cluster]?.replicas ?? 0) > 0) return false;
  return present(scene).some(([from, share]) => {
    if (share.fresh || soleTaker(scene.plan, from) !== cluster) return false;
    if (share.held) return !isCopiedTo(scene, from, share, cluster);
    return (share.replicas ?? 0) > 0 || !hasCopied(scene, from, cluster);
  });
}

/** Stopped, or with nothing to run, it stays while its data is brought to where it is to be. Undefined: it need not. */
function keptForData(scene: Scene, cluster: string, share: Share, mayStop: boolean): Share | undefined {
  if (!takesData(scene)) return undefined;
  if (share.held || (share.replicas ?? 0) > 0) return recounted(scene, share, 0);
  const to = soleTaker(scene.plan, cluster);
  // What has yet to be brought here is no data of it: to bring that back would overwrite it.
  if (share.fresh) return undefined;
  // Nothing is brought over what runs there already.
  if (to === undefined || (scene.shares[to]?.replicas ?? 0) > 0) return undefined;
  if (hasCopied(scene, cluster, to)) return undefined;
  const since = new Date(scene.now).toISOString();
  return mayStop ? { ...share, held: { replicas: 0, since } } : share;
}

function recounted(scene: Scene, share: Share, replicas: number): Share {
  const before = share.replicas ?? 0;
  if (replicas === before) return share;
  const { readySince: _restarts, settled: _settled, held: _held, fresh: _fresh, ...rest } = share;
  const held = heldCount(share);
  return {
    ...rest,
    replicas,
    ...(replicas > before ? { phase: 'Joining' as const } : {}),
    ...(replicas < held ? { held: { replicas: held, since: new Date(scene.now).toISOString() } } : {}),
  };
}
