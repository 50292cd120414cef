import { kindNamed } from '../cluster/kinds.ts';
import { leavesUnheard } from '../cluster/share.ts';
import type { Share } from '../cluster/types.ts';
import { withoutWait } from './hold.ts';
import type { Shares } from './plan.ts';
import { availableOf } from './ready.ts';
import { presentShare, type Scene, sliceOf } from './scene.ts';

/** As the hand-over knows them: who is Withdrawing is as it was before, and remembers since when. */
export function restored(shares: Shares): Shares {
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, share]): [string, Share] => {
      const { phase, withdrawing } = share;
      if (phase !== 'Withdrawing') return [cluster, share];
      return [cluster, { ...share, phase: withdrawing?.from === 'Joining' ? 'Joining' : 'Active' }];
    }),
  );
}

/** Who was silent and is heard of again: the time to drain begins now, and those who lean on others ask these anew. */
export function heardAgain(shares: Shares, heardAt: Scene['heardAt']): Shares {
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, share]): [string, Share] => {
      if (!leavesUnheard(share) || heardAt(cluster) === undefined) return [cluster, share];
      const { withdrawing: _over, ...rest } = share;
      return [cluster, rest];
    }),
  );
}

interface Withdrawn {
  shares: Shares;
  requeueAfterMs?: number;
}

/**
 * Between Active and Leaving: who might leave now is Withdrawing first, for `drainMs`, and whether it may leave is asked
 * anew each time: if it is to stay after all, it is what it was. What has no successor beside it, and what serves nobody,
 * leave at once. Since when is in the share, so that whoever goes on knows it. On a cluster that is silent nothing can be
 * taken away now, and what it last served may be all there is by the time it is heard of: it is Withdrawing until then.
 */
export function withdraw(scene: Scene, decided: Shares, drainMs = 0): Withdrawn {
  let soonest: number | undefined;
  const shares = Object.entries(decided).map(([cluster, share]): [string, Share] => {
    const before = presentShare(scene, cluster);
    if (share.phase !== 'Leaving' || !before) {
      const { withdrawing: _over, ...rest } = share;
      return [cluster, rest];
    }
    if (!isWithdrawable(scene, cluster, before)) return [cluster, share];
    const from = before.phase === 'Joining' ? 'Joining' : 'Active';
    if (scene.heardAt(cluster) === undefined)
      return [cluster, { ...withoutWait(before), phase: 'Withdrawing', withdrawing: { from } }];
    if (drainMs <= 0) return [cluster, share];
    // A clock that was set back must not make anyone wait longer than once.
    const since = Math.min(scene.now, Date.parse(before.withdrawing?.since ?? '') || scene.now);
    const left = drainMs - (scene.now - since);
    if (left <= 0) return [cluster, share];
    soonest = earlier(soonest, left);
    const withdrawing = { since: new Date(since).toISOString(), from } as const;
    return [cluster, { ...withoutWait(before), phase: 'Withdrawing', withdrawing }];
  });
  return {
    shares: Object.fromEntries(shares),
    ...(soonest !== undefined && { requeueAfterMs: soonest }),
  };
}

/** What may not run twice has stopped before its successor starts: to wait then would be time without either. */
function isWithdrawable(scene: Scene, cluster: string, share: Share): boolean {
  const { root, plan } = scene;
  if (kindNamed(root.kind)?.role !== 'workload' || plan.once) return false;
  if (plan.mode !== 'counts' && plan.mode !== 'whole') return false;
  return availableOf(share, sliceOf(scene, cluster)) > 0;
}

export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
