import { isPaused } from '../cluster/drain.ts';
import { timestamp } from '../kube/timestamp.ts';
import { getOwn, textAt } from '../kube/untyped.ts';
import type { Company } from './company.ts';
import type { Scene } from './scene.ts';
import type { Subject } from './subjects.ts';
import { unreadOf } from './unread.ts';
import type { Wish } from './wishes.ts';

/**
 * How long what a rebalance has moved stays, whatever it would gain: what moves after it may make another place the better one for it.
 */
export const restMs = 3_600_000;

/** Until when what a rebalance has moved stays, in milliseconds since 1970. */
export function endOfRest(rebalancedAt: string | undefined): number {
  return rebalancedAt === undefined ? 0 : (Date.parse(rebalancedAt) || 0) + restMs;
}

/** Why a rebalance leaves something where it is, were there more room elsewhere. */
export interface Keeping {
  /** What is to be said of it to whoever has asked for the rebalance. */
  why: string;
  /** Somebody has said so of it: there is nothing to tell. */
  isAsked: boolean;
}

/** Undefined: nothing is lost by its move but the start of its pods elsewhere. */
export function keepingOf(
  subject: Subject,
  from: string,
  scene: Scene,
  company: Company,
): Keeping | undefined {
  const { placed, placement, current, wish, claims } = subject;
  const { kind, object } = placed;
  const asked = { why: 'somebody has said where it is', isAsked: true };
  if (!leavesChoice(wish) || isPaused(object) || company.isOf(subject)) return asked;
  const unread = unreadOf(scene, placed);
  if (unread !== undefined) return { why: unread, isAsked: false };
  const { spec } = placement ?? {};
  const kept = (why: string) => ({ why, isAsked: false });
  // Where it comes to be decides where there is more room.
  if (current.length === 0) return kept('it is nowhere yet');
  if (!spec || spec.ref.uid !== object.metadata.uid || object.metadata.deletionTimestamp !== undefined)
    return kept('it goes');
  const [share, ...others] = Object.values(spec.shares ?? {});
  const isThere = share !== undefined && others.length === 0 && getOwn(spec.shares ?? {}, from) === share;
  const isSettled = isThere && share.phase === 'Active' && spec.clusters.join() === from;
  if (!isSettled || share.held !== undefined || share.goal !== undefined) return kept('it is on its way');
  if (claims.hold.has(from) || claims.recreate.has(from)) return kept('its claims hold data there');
  if (kind.identity === 'once' || textAt(object, 'spec', 'strategy', 'type') === 'Recreate')
    return kept('it stops before it starts elsewhere');
  if (kind.kind === 'Pod' && (textAt(object, 'spec', 'restartPolicy') ?? 'Always') !== 'Always')
    return kept('it runs to its end, and would begin anew');
  const end = endOfRest(spec.rebalancedAt);
  return end > scene.input.now
    ? kept(`it was moved by a rebalance, and rests until ${timestamp(end)}`)
    : undefined;
}

/** Nobody says where it is, nor on how many: one cluster is as good as another that the wish leaves. */
function leavesChoice(wish: Wish | undefined): boolean {
  return !wish || ((wish.count === 'free' || wish.count === 1) && !wish.spread);
}
