import { type Budget, fenceposts } from '../cluster/rolling.ts';
import { leavesUnheard } from '../cluster/share.ts';
import type { Silence } from '../cluster/silence.ts';
import type { Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at } from '../kube/untyped.ts';
import { divide } from './divide.ts';
import type { Shares, Slices } from './plan.ts';
import { isNew, sliceAt, standingOf } from './standing.ts';
import { turnsOf } from './turns.ts';

export interface Rolling {
  /** Where it should be; empty: where it is. */
  clusters?: readonly string[];
  slices?: Slices;
  silenceOf?: ((cluster: string) => Silence | undefined) | undefined;
  /** Its user has stopped its hand-over. */
  isPaused?: boolean | undefined;
}

/**
 * What each cluster may do of a rolling update, so that together they do what one would: docs/decisions/0036. A
 * Deployment's surge and unavailability are divided; where there is less of both than clusters, they are updated in
 * turns, as the clusters of a StatefulSet always are; not while it moves, when nobody must wait for a cluster that it is to
 * leave, and what of a StatefulSet is still there keeps its template. One target alone keeps what the user wrote, and so does a DaemonSet,
 * whose pods depend on nodes.
 */
export function withBudgets(root: KubeObject, shares: Shares, rolling: Rolling = {}): Shares {
  if (root.kind !== 'Deployment' && root.kind !== 'StatefulSet') return shares;
  const running = Object.entries(shares).filter(
    ([, s]) => s.phase !== 'Leaving' && !leavesUnheard(s) && (s.replicas ?? 0) > 0,
  );
  const leavers = root.kind === 'StatefulSet' ? leaversOf(root, shares, running, rolling) : undefined;
  const parts =
    leavers ??
    (running.length < 2
      ? new Map()
      : root.kind === 'Deployment'
        ? ofDeployment(root, running, rolling)
        : ofSet(root, running, rolling));
  return Object.fromEntries(
    Object.entries(shares).map(([c, share]) => [c, { ...withoutBudget(share), ...parts.get(c) }]),
  );
}

type Named = readonly [cluster: string, share: Share];
type Part = Pick<Share, 'maxSurge' | 'maxUnavailable' | 'paused'>;

function ofDeployment(root: KubeObject, running: readonly Named[], rolling: Rolling): Map<string, Part> {
  if (at(root, 'spec', 'strategy', 'type') === 'Recreate') return new Map();
  const budget = fenceposts(root.spec);
  const most = budget.maxSurge + budget.maxUnavailable;
  if (most >= running.length) return divided(budget, running);
  const counted = isMoving(running, rolling)
    ? []
    : running.filter(([c, share]) => !isNew(share, sliceAt(rolling, c)));
  // What is being made has nothing to lose, and must not wait: a Deployment that is paused makes no pods.
  const surging = running.map(([c]): [string, Part] => [c, { maxSurge: 1, maxUnavailable: 0 }]);
  const parts = most >= counted.length ? divided(budget, counted) : inTurns(root, counted, budget, rolling);
  return new Map([...surging, ...parts]);
}

function isMoving(running: readonly Named[], { clusters = [] }: Rolling): boolean {
  return clusters.length > 0 && running.some(([c]) => !clusters.includes(c));
}

function divided(budget: Budget, running: readonly Named[]): Map<string, Part> {
  const weights = new Map(running.map(([c, share]) => [c, share.replicas ?? 0]));
  return divideBudget(budget, weights, new Map(running.map(([c, s]) => [c, Number(s.maxSurge ?? 0)])));
}

/** Each that has a turn does one of either: the one that it did before, as far as there are. */
function inTurns(
  root: KubeObject,
  counted: readonly Named[],
  { maxSurge, maxUnavailable }: Budget,
  rolling: Rolling,
): Map<string, Part> {
  const standings = counted.map(([c, share]) => standingOf(root, c, share, rolling));
  const turns = turnsOf(standings, maxSurge + maxUnavailable);
  const surged = (share: Share) => Number(share.maxSurge ?? 0) > 0;
  // Who has not been heard to wait may still do what it did.
  const under = counted.filter(([c]) => turns.has(c) || !standings.some((s) => s.cluster === c && s.waits));
  const order = [...under].sort(([, a], [, b]) => Number(a.paused ?? false) - Number(b.paused ?? false));
  const left = { maxSurge, maxUnavailable };
  const kinds = new Map<string, Part>();
  for (const [c, share] of order) {
    // Who has one more than there are keeps to its own: on a turn that it is to lose, the other kind would be one more beyond it.
    const surges = surged(share)
      ? left.maxSurge > 0 || left.maxUnavailable <= 0
      : left.maxUnavailable <= 0 && left.maxSurge > 0;
    if (surges) left.maxSurge--;
    else left.maxUnavailable--;
    kinds.set(c, surges ? { maxSurge: 1, maxUnavailable: 0 } : { maxSurge: 0, maxUnavailable: 1 });
  }
  return new Map(
    counted.map(([c, share]) => {
      const kept = surged(share) ? { maxSurge: 1, maxUnavailable: 0 } : { maxSurge: 0, maxUnavailable: 1 };
      return [c, turns.has(c) ? (kinds.get(c) ?? kept) : { ...kept, paused: true }];
    }),
  );
}

/**
 * Of a StatefulSet on its way one ordinal is missing already: those that are still where it is to leave are not updated there, but made of the
 * new template where they belong. Undefined: it is not on its way.
 */
function leaversOf(
  root: KubeObject,
  shares: Shares,
  running: readonly Named[],
  rolling: Rolling,
): Map<string, Part> | undefined {
  if (isOnDelete(root) || rolling.isPaused || !isMoving(running, rolling)) return undefined;
  const leavers = running.filter(([c]) => !rolling.clusters?.includes(c));
  const isBegun = leavers.length < running.length || Object.values(shares).some(({ held }) => held);
  return new Map(isBegun ? leavers.map(([c]) => [c, { paused: true }]) : []);
}

function isOnDelete(root: KubeObject): boolean {
  return at(root, 'spec', 'updateStrategy', 'type') === 'OnDelete';
}

/** One cluster at a time, the one with the highest ordinals first. */
function ofSet(root: KubeObject, running: readonly Named[], rolling: Rolling): Map<string, Part> {
  if (isOnDelete(root)) return new Map();
  const order = [...running].sort(([, a], [, b]) => (b.ordinalsStart ?? 0) - (a.ordinalsStart ?? 0));
  const standings = order.map(([c, share]) => standingOf(root, c, share, rolling));
  const isAtRest = running.every(
    ([, s]) => s.phase === 'Active' && s.held === undefined && s.goal === undefined,
  );
  const turns = turnsOf(standings, 1, { isOrdered: isAtRest });
  return new Map(running.map(([c]) => [c, turns.has(c) ? {} : { paused: true }]));
}

/**
 * The parts add up to the whole. Each gets one of either as far as there are, by weight, the rest in proportion to it; whether
 * to surge or to miss is as `current`, its surge, where that is a matter of choice: so that both are used up before anybody
 * gets none.
 */
export function divideBudget(
  { maxSurge, maxUnavailable }: Budget,
  weights: ReadonlyMap<string, number>,
  current: ReadonlyMap<string, number> = new Map(),
): Map<string, Budget> {
  const weigh = (c: string) => weights.get(c) ?? 0;
  const names = [...weights.keys()].sort((a, b) => weigh(b) - weigh(a) || (a < b ? -1 : 1));
  const whole = maxSurge + maxUnavailable;
  const first = names.slice(0, whole);
  const rest = divide(whole - first.length, first, new Map(), weights);
  const each = new Map(first.map((c) => [c, 1 + (rest.get(c) ?? 0)]));
  const surge = divide(maxSurge, first, current, each);
  return new Map(
    names.map((c) => {
      const mine = surge.get(c) ?? 0;
      return [c, { maxSurge: mine, maxUnavailable: (each.get(c) ?? 0) - mine }];
    }),
  );
}

function withoutBudget({
  maxSurge: _surge,
  maxUnavailable: _missing,
  paused: _paused,
  ...share
}: Share): Share {
  return share;
}
