import { kindNamed } from '../cluster/kinds.ts';
import type { Share } from '../cluster/types.ts';
import { covers } from './divide.ts';
import { resizeCount } from './handover-many.ts';
import { rangeOf } from './plan.ts';
import { type Next, present, type Scene } from './scene.ts';

/** Something else that a copy waits for before it leaves a cluster. */
export interface Late {
  /** By kind and name, for people. */
  who: string;
  /** Nobody can say that it will come by itself: without a word of the user it is waited for as long as it takes. */
  patient: boolean;
  /** Nor has the user said a word of it with how long it waits for others: what it would take away is this one's. */
  firm?: boolean;
}

/** What keeps copies of a workload where they are although its own targets are ready. */
export interface Hold {
  /** Nothing of it leaves or shrinks for a move; its targets become ready all the same. */
  paused?: boolean | undefined;
  /** A cluster of which nobody keeps anything: what goes on elsewhere is not left behind there for a pause. Default: none. */
  isForgotten?: ((cluster: string) => boolean) | undefined;
  /** Who else must be ready before it leaves a cluster; asked until it has begun to. */
  awaited?: ((cluster: string) => readonly Late[]) | undefined;
  /** How long it waits for them, as the user says; default `defaultWaitMs` for those that are not patient. */
  waitMs?: number | undefined;
}

export interface Held {
  stepped: Next;
  /** `paused`, or whom it waits for. Sorted. */
  held: string[];
  /** Milliseconds since 1970: when it goes without them. Absent: it waits for as long as it takes. */
  until?: number;
  /** Whatever the user says of how long it waits. */
  firm?: boolean;
  /** When to look again, while it waits. */
  requeueAfterMs?: number;
  /** Whom it has waited for in vain, and goes without. Sorted. */
  without: string[];
}

export const paused = 'paused';
/** Of the condition Settled, while others are awaited: whatever changes beside it wakes it. */
export const waitingReason = 'WaitingForOthers';
/** So that what waits for each other in a ring, or for what never becomes ready, ends: as long as a Deployment has for its progress. */
export const defaultWaitMs = 600_000;

/** How soon to look again whom it waits for: not all that makes them late is told. */
export const lookAgainMs = 15_000;

/** The step without what must not be taken away yet, and why not. */
export function hold(scene: Scene, next: Next, how: Hold): Held {
  const stepped: Next = new Map([...next].map(([c, share]) => [c, withoutWait(share)]));
  const result: Held = { stepped, held: [], without: [] };
  const isHeld = kindNamed(scene.root.kind)?.role === 'workload' && (how.paused || how.awaited);
  if (!isHeld || isAlone(scene)) return result;
  let until = 0;
  let firm = false;
  for (const [cluster, share] of present(scene)) {
    const wanted = stepped.get(cluster);
    if (wanted && !isLess(wanted, share, scene)) continue;
    if (how.paused && !how.isForgotten?.(cluster)) {
      stepped.set(cluster, atMost(withoutWait(share), wanted, scene));
      result.held.push(paused);
      continue;
    }
    const wait = waitAt(scene, cluster, share, how);
    if (!wait) continue;
    const { awaitedSince } = wait;
    if (wait.isOver) {
      result.without.push(...wait.who);
      if (wanted) stepped.set(cluster, { ...wanted, awaitedSince });
      continue;
    }
    result.held.push(...wait.who);
    firm ||= wait.firm;
    stepped.set(cluster, { ...share, awaitedSince });
    until = Math.max(until, wait.until);
  }
  const [held, without] = [result.held, result.without].map((who) => [...new Set(who)].sort()) as [
    string[],
    string[],
  ];
  if (until === 0) return { stepped, held, without };
  const isFirm = firm && { firm };
  const requeueAfterMs = Math.min(lookAgainMs, until - scene.now);
  return { stepped, held, without, requeueAfterMs, ...isFirm, ...(Number.isFinite(until) && { until }) };
}

export function withoutWait({ awaitedSince: _over, ...share }: Share): Share {
  return share;
}

interface Wait {
  who: string[];
  awaitedSince: string;
  isOver: boolean;
  until: number;
  firm: boolean;
}

/** Nobody waits for the sake of a copy of which nothing is heard: it is not there for the others either. */
function waitAt(scene: Scene, cluster: string, share: Share, { awaited, waitMs }: Hold): Wait | undefined {
  const { plan, now } = scene;
  const leaves = !plan.goal.has(cluster) && scene.heardAt(cluster) !== undefined;
  const late = leaves && share.withdrawing === undefined && awaited ? awaited(cluster) : [];
  if (late.length === 0) return undefined;
  // A clock that was set back must not make anyone wait longer than once.
  const since = Math.min(now, Date.parse(share.awaitedSince ?? '') || now);
  const firm = late.some((one) => one.firm === true);
  const isPatient = late.some(({ patient }) => patient);
  const endMs = firm ? undefined : waitMs;
  const until = since + (endMs ?? (isPatient ? Number.POSITIVE_INFINITY : defaultWaitMs));
  const awaitedSince = new Date(since).toISOString();
  return { who: late.map(({ who }) => who), awaitedSince, isOver: now >= until, until, firm };
}

/** On one cluster and bound for no other: what it shrinks by is no move. */
function isAlone({ shares, plan }: Scene): boolean {
  return new Set([...Object.keys(shares), ...plan.goal.keys()]).size < 2;
}

/** Scaled down it follows as far as it can be told from a move: nowhere are more than the whole is to have. */
function atMost(share: Share, wanted: Share | undefined, { plan: { mode, total, once } }: Scene): Share {
  if (mode !== 'counts' || once || share.replicas === undefined || share.replicas <= total) return share;
  return resizeCount(share, Math.max(total, wanted?.replicas ?? 0));
}

function isLess(wanted: Share, share: Share, { plan: { first } }: Scene): boolean {
  if ((wanted.suspend ?? false) !== (share.suspend ?? false)) return wanted.suspend === true;
  if (share.ordinalsStart !== undefined && wanted.ordinalsStart !== undefined)
    return !covers(rangeOf(wanted, first), rangeOf(share, first));
  return (wanted.replicas ?? 0) < (share.replicas ?? 0);
}
