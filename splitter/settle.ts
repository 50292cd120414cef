import { kindNamed } from '../cluster/kinds.ts';
import type { Share } from '../cluster/types.ts';
import { defaultWaitMs, type Hold, lookAgainMs } from './hold.ts';
import type { Plan, Shares } from './plan.ts';
import { isReady } from './ready.ts';
import { countedOf, isLeanedOn, isSound, type Witness, wasHeard } from './trust.ts';

export interface Unled {
  /**
   * Whether a Service there has yet to lead to as many pods as are ready: until then, and no longer than `waitMs`, nobody goes on
   * the strength of these.
   */
  isUnled?: ((cluster: string) => boolean) | undefined;
}

interface Settling extends Witness, Unled, Pick<Hold, 'waitMs'> {
  /** Milliseconds since 1970. */
  now: number;
  /** How long a share must have been ready without a break before others shrink on the strength of it. */
  settleMs: number;
}

interface Settled {
  settled: Shares;
  /** When the last target to be ready became so. */
  since: number | undefined;
  unled: string[];
  requeueAfterMs?: number;
}

/**
 * Joining shares become Active once ready for long enough; a break starts the time anew. So does one of an Active
 * share on whose strength others would go, pods that fail again or a cluster that falls silent: it joins once more.
 */
export function settle(input: Settling, plan: Plan, shares: Shares): Settled {
  const { root, slices, now } = input;
  const settleMs = kindNamed(root.kind)?.passive ? 0 : input.settleMs;
  let soonest: number | undefined;
  let newest: number | undefined;
  const unled: string[] = [];
  const one = ([cluster, share]: [string, Share]): [string, Share] => {
    const isAsked = isLeanedOn(root, plan, shares, cluster);
    if (share.phase === 'Active' && isAsked && !isSound(input, plan, cluster, share)) {
      const { heardSince: _asked, ...numbers } = share;
      return [cluster, { ...numbers, phase: 'Joining' }];
    }
    if (share.phase !== 'Joining') return [cluster, share];
    const { settled, readySince, ...numbers } = share;
    const base = { ...numbers, ...(settled && { settled }) };
    const others = Object.entries(slices).flatMap(([other, slice]) => (other === cluster ? [] : [slice]));
    const isReadyNow = isReady(root, share, slices[cluster], others, countedOf(plan, cluster, share));
    const isUnsure = input.heardAt(cluster) === undefined || input.isClosed?.(cluster);
    if (!isReadyNow || (isAsked && isUnsure)) return [cluster, base];
    // A clock that was set back must not make anyone wait longer than once.
    const since = Math.min(now, Date.parse(readySince ?? '') || now);
    if (plan.goal.has(cluster)) newest = Math.max(newest ?? since, since);
    const left = settleMs - (now - since);
    const ready = { ...base, readySince: new Date(since).toISOString() };
    const unledMs = isAsked && left <= 0 ? (input.waitMs ?? defaultWaitMs) - (now - since) : 0;
    if (unledMs > 0 && input.isUnled?.(cluster)) {
      unled.push(cluster);
      soonest = Math.min(soonest ?? unledMs, unledMs, lookAgainMs);
      return [cluster, ready];
    }
    // Heard of since it had been ready for long enough, it need not be asked once more.
    const heardSince = new Date(since + settleMs).toISOString();
    if (left <= 0 && (!isAsked || wasHeard(input, cluster, ready)))
      return [cluster, { ...numbers, phase: 'Active', ...(isAsked && { heardSince }) }];
    if (left > 0) soonest = Math.min(soonest ?? left, left);
    return [cluster, ready];
  };
  const settled = Object.fromEntries(Object.entries(shares).map(one));
  return { settled, since: newest, unled, ...(soonest !== undefined && { requeueAfterMs: soonest }) };
}
