import { kindNamed } from '../cluster/kinds.ts';
import { leavesUnheard } from '../cluster/share.ts';
import type { Share } from '../cluster/types.ts';
import { defaultWaitMs, lookAgainMs, withoutWait } from './hold.ts';
import type { Shares } from './plan.ts';
import { availableOf, isLeftToOwner } from './ready.ts';
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

/** How what is to leave is withdrawn. */
export interface Withdrawal {
  /** How long it gets no new connections before its pods go; default 0. */
  drainMs?: number | undefined;
  /** Whether a Service there has yet to be withdrawn by its cluster: until then its drain does not count. */
  isOpen?: ((cluster: string) => boolean) | undefined;
  /** How long it waits for that; default `defaultWaitMs`. */
  waitMs?: number | undefined;
}

interface Withdrawn {
  shares: Shares;
  requeueAfterMs?: number;
}

/**
 * Between Active and Leaving: who might leave now is Withdrawing first, for `drainMs`, and whether it may leave is asked
 * anew each time: if it is to stay after all, it is what it was. The time counts from when its cluster leads nobody there
 * any more. What has no successor beside it, and what serves nobody, leave at once. Since when is in the share, so that
 * whoever goes on knows it. On a cluster that is silent nothing can be taken away now, and what it last served may be all
 * there is by the time it is heard of: it is Withdrawing until then.
 */
export function withdraw(scene: Scene, decided: Shares, how: Withdrawal): Withdrawn {
  let soonest: number | undefined;
  const shares = Object.entries(decided).map(([cluster, share]): [string, Share] => {
    const before = presentShare(scene, cluster);
    if (share.phase !== 'Leaving' || !before) {
      const { withdrawing: _over, ...rest } = share;
      return [cluster, rest];
    }
    if (!isWithdrawable(scene, cluster, before)) return [cluster, share];
    if (scene.heardAt(cluster) === undefined) {
      const withdrawing = { from: fromOf(before) };
      return [cluster, { ...withoutWait(before), phase: 'Withdrawing', withdrawing }];
    }
    // Its owner's pods are what served: were it there longer than that one, it would be made anew.
    if (!how.drainMs || isLeftToOwner(scene.root, sliceOf(scene, cluster))) return [cluster, share];
    const { withdrawing, leftMs, againMs } = withdrawal(scene, cluster, before, how);
    if (leftMs <= 0) return [cluster, share];
    soonest = earlier(soonest, againMs);
    return [cluster, { ...withoutWait(before), phase: 'Withdrawing', withdrawing }];
  });
  return {
    shares: Object.fromEntries(shares),
    ...(soonest !== undefined && { requeueAfterMs: soonest }),
  };
}

/** What is to be written of it, how long it stays, and when to look again. */
function withdrawal({ now }: Scene, cluster: string, before: Share, how: Withdrawal) {
  const { drainMs = 0, isOpen, waitMs = defaultWaitMs } = how;
  const { withdrawing: was } = before;
  // A clock that was set back must not make anyone wait longer than once.
  const sinceOf = (text = '') => Math.min(now, Date.parse(text) || now);
  const [since, closed] = [sinceOf(was?.since), sinceOf(was?.closedSince)];
  const withdrawing = { since: new Date(since).toISOString(), from: fromOf(before) };
  // Nobody waits for ever for what a cluster does not take. Whatever else ends the waiting is not all told.
  if (isOpen?.(cluster)) {
    const leftMs = Math.max(drainMs, waitMs) - (now - since);
    return { withdrawing, leftMs, againMs: Math.min(leftMs, lookAgainMs) };
  }
  const closedSince = new Date(closed).toISOString();
  const leftMs = drainMs - (now - closed);
  return { withdrawing: { ...withdrawing, closedSince }, leftMs, againMs: leftMs };
}

function fromOf({ phase }: Share): 'Joining' | 'Active' {
  return phase === 'Joining' ? 'Joining' : 'Active';
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
