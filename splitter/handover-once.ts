import type { Share } from '../cluster/types.ts';
import { numberAt } from '../kube/untyped.ts';
import { comesBack, hasCopied, isCopiedTo, isWrittenThere, soleTaker, takesData } from './copies.ts';
import { failuresOf } from './copy-step.ts';
import { clip, covers, emptyRange, hull, type Range, sizeOf } from './divide.ts';
import { rangeOf, type Slices } from './plan.ts';
import { availableOf } from './ready.ts';
import { isCountedOn, type Next, newcomer, present, presentShare, type Scene, sliceOf } from './scene.ts';

/**
 * Break before make, for what may not run twice: a share that shrinks holds what it had until its cluster has said
 * that the pods are gone, and what is held anywhere is started nowhere else, however long the cluster is silent. The
 * targets are there, with nothing to run yet, before anybody shrinks, so that what breaks does so for a pod's start.
 */
export function nextOnce(scene: Scene): Next {
  return scene.plan.mode === 'ranges' ? nextRanges(scene) : nextCountsOnce(scene);
}

/** Nobody holds more than it has, and nobody is on its way out. */
function isAtRest({ shares }: Scene): boolean {
  return Object.values(shares).every((share) => share.phase !== 'Leaving' && share.held === undefined);
}

function allCountedOn(scene: Scene): boolean {
  return [...scene.plan.goal.keys()].every((cluster) => isCountedOn(scene, cluster));
}

const isHeard = (scene: Scene, cluster: string): boolean => scene.heardAt(cluster) !== undefined;

/** What stops there is heard to have stopped. Else it would be gone, and could be started nowhere. */
const isSeen = (scene: Scene, cluster: string): boolean =>
  isHeard(scene, cluster) && scene.isBlind?.(cluster) !== true;

/** See Handover. */
export function blindIn(scene: Scene): string[] {
  const { once, goal, first } = scene.plan;
  if (!once) return [];
  return present(scene)
    .filter(
      ([c, share]) => scene.isBlind?.(c) && !covers(rangeOf(goal.get(c), first), heldRange(share, first)),
    )
    .map(([c]) => c)
    .sort();
}

/** Its pods beyond what it has been told to run are gone: its controller has seen that, and none is left. */
export function isReleased(slices: Slices, cluster: string, share: Share, first: number): boolean {
  const slice = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
  const { replicas = 0, ordinalsStart } = share;
  const said = slice?.share;
  if (slice?.present !== true || !slice.pods || !said || slice.pods.since !== share.held?.since) return false;
  if (said.replicas !== replicas || said.ordinalsStart !== ordinalsStart) return false;
  const { count, ordinals } = slice.pods;
  if (count > replicas || (numberAt(slice.status, 'replicas') ?? 0) > replicas) return false;
  return count === 0 || !ordinals || covers(rangeOf(share, first), ordinals);
}

/** All that it may run: what it is told to, and what it was told to before and has not been heard to have stopped. */
function heldRange(share: Share, first: number): Range {
  const told = rangeOf(share, first);
  return share.held ? hull(told, rangeOf(share.held, first)) : told;
}

/**
 * StatefulSets, ordinal by ordinal, the highest first: the next one is stopped when the one before is ready where it
 * belongs. Those that nobody has are started at once.
 */
function nextRanges(scene: Scene): Next {
  const { goal, first, total } = scene.plan;
  const whole: Range = { start: first, end: first + total };
  const next: Next = new Map();
  for (const [cluster, share] of present(scene)) {
    const isBack = comesBack(scene, scene.shares, cluster);
    const range = clip(isBack ? heldRange(share, first) : rangeOf(share, first), whole);
    const isAwaited = share.held !== undefined && takesData(scene);
    if (goal.has(cluster) || sizeOf(range) > 0 || isAwaited) next.set(cluster, resized(scene, share, range));
  }
  let isTaken = false;
  for (const [cluster, part] of goal) {
    const wanted = rangeOf(part, first);
    const share = next.get(cluster);
    const before = share ? rangeOf(share, first) : emptyRange;
    const range = isHeard(scene, cluster) ? grown(before, wanted, isFreeFor(scene, next, cluster)) : before;
    isTaken ||= sizeOf(range) > sizeOf(before);
    const numbers = numbersOf(sizeOf(range) > 0 ? range : { start: wanted.end, end: wanted.end });
    if (!share) next.set(cluster, newcomer(numbers));
    else if (sizeOf(range) > 0) next.set(cluster, resized(scene, share, range));
    else next.set(cluster, { ...share, ...numbers });
  }
  if (!isTaken && isAtRest(scene) && allCountedOn(scene)) shed(scene, next);
  return withGoals(scene, next);
}

function numbersOf({ start, end }: Range): { replicas: number; ordinalsStart: number } {
  return { replicas: end - start, ordinalsStart: start };
}

/** Neither told to, nor still held by, any other cluster, nor written to by a copier; what one holds whose data has come along is there to be taken. */
function isFreeFor(scene: Scene, next: Next, cluster: string): (o: number) => boolean {
  const { shares, plan } = scene;
  const { first } = plan;
  const others = [...Object.entries(shares), ...next].filter(([other]) => other !== cluster);
  const isIn = ({ start, end }: Range, ordinal: number) => start <= ordinal && ordinal < end;
  const has = (other: string, share: Share, ordinal: number) =>
    isIn(rangeOf(share, first), ordinal) ||
    (isIn(heldRange(share, first), ordinal) && !isCopiedTo(scene, other, share, cluster, ordinal));
  return (ordinal) =>
    !isWrittenThere(scene, cluster, ordinal) && !others.some(([other, share]) => has(other, share, ordinal));
}

/** Towards `wanted`, without a gap; from nothing, the highest that are free. */
function grown(from: Range, wanted: Range, isFree: (ordinal: number) => boolean): Range {
  let { start, end } = from;
  if (sizeOf(from) === 0) {
    end = wanted.end;
    while (end > wanted.start && !isFree(end - 1)) end--;
    start = end;
  }
  while (start > wanted.start && start <= wanted.end && isFree(start - 1)) start--;
  while (end < wanted.end && end >= wanted.start && isFree(end)) end++;
  return { start, end };
}

/** Stops one ordinal that is not where it belongs, at an end of a share, so that its target can take it next. */
function shed(scene: Scene, next: Next): void {
  if (failuresOf(scene, scene.shares).length > 0) return;
  const { goal, first } = scene.plan;
  const ranges = new Map([...next].map(([c, share]) => [c, rangeOf(share, first)]));
  const goalOf = (c: string) => rangeOf(goal.get(c), first);
  const givers = [...ranges]
    .filter(([c, range]) => isSeen(scene, c) && sizeOf(range) > 0 && !covers(goalOf(c), range))
    .sort(([, a], [, b]) => b.end - a.end);
  const found =
    givers
      .flatMap(([c, range]) => shedding(range, goalOf(c)).map((rest) => ({ c, rest })))
      .find(({ c, rest }) => {
        const range = ranges.get(c) ?? emptyRange;
        return isTakeable(rest.end < range.end ? range.end - 1 : range.start, c);
      }) ?? givers.map(([c, range]) => ({ c, rest: { start: range.start, end: range.end - 1 } }))[0];
  if (!found) return;
  const { c, rest } = found;
  const share = next.get(c);
  if (!share) return;
  const isDown = availableOf(share, sliceOf(scene, c)) === 0;
  const kept = isDown ? clip(rangeOf(share, first), goalOf(c)) : rest;
  // What takes its data along is there until that has come.
  if (goal.has(c) || sizeOf(kept) > 0 || takesData(scene)) next.set(c, resized(scene, share, kept));
  else next.delete(c);

  function isTakeable(ordinal: number, from: string): boolean {
    return [...goal.keys()].some((taker) => {
      const wanted = goalOf(taker);
      if (taker === from || ordinal < wanted.start || ordinal >= wanted.end) return false;
      const range = ranges.get(taker) ?? emptyRange;
      return sizeOf(range) === 0 || (range.start - 1 <= ordinal && ordinal <= range.end);
    });
  }
}

/** The range without its last, or without its first ordinal, where that is not in `goal`. */
function shedding({ start, end }: Range, goal: Range): Range[] {
  const isIn = (ordinal: number) => goal.start <= ordinal && ordinal < goal.end;
  return [
    ...(isIn(end - 1) ? [] : [{ start, end: end - 1 }]),
    ...(isIn(start) ? [] : [{ start: start + 1, end }]),
  ];
}

function resized({ plan: { first }, now }: Scene, share: Share, range: Range): Share {
  const before = rangeOf(share, first);
  if (sizeOf(before) === 0 && sizeOf(range) === 0) return share;
  if (before.start === range.start && before.end === range.end) return share;
  const numbers = sizeOf(range) > 0 ? numbersOf(range) : { replicas: 0, ordinalsStart: before.start };
  const { readySince: _restarts, settled: _settled, held: _held, ...rest } = share;
  const held = heldRange(share, first);
  return {
    ...rest,
    ...numbers,
    ...(covers(before, range) ? {} : { phase: 'Joining' as const }),
    ...(covers(range, held) ? {} : { held: { ...numbersOf(held), since: new Date(now).toISOString() } }),
  };
}

/** Where a share is going is kept with it: half way there it must not be taken for where it belongs. */
function withGoals({ plan: { goal, first } }: Scene, next: Next): Next {
  return new Map(
    [...next].map(([cluster, { goal: _before, ...share }]): [string, Share] => {
      const part = goal.get(cluster);
      const wanted = rangeOf(part, first);
      const now = rangeOf(share, first);
      const isThere = sizeOf(wanted) === sizeOf(now) && (sizeOf(now) === 0 || wanted.start === now.start);
      return [cluster, part && !isThere ? { ...share, goal: numbersOf(wanted) } : share];
    }),
  );
}

const heldCount = (share: Share): number => Math.max(share.replicas ?? 0, share.held?.replicas ?? 0);

/** Of those that are alike never more than the whole has; when the targets are there, all that is to move stops. */
function nextCountsOnce(scene: Scene): Next {
  const { goal, total } = scene.plan;
  const goalOf = (c: string) => goal.get(c)?.replicas ?? 0;
  const shares = present(scene);
  let excess = shares.reduce((sum, [, share]) => sum + (share.replicas ?? 0), 0) - total;
  const mayBreak = isAtRest(scene) && allCountedOn(scene) && failuresOf(scene, scene.shares).length === 0;
  const next: Next = new Map();
  // What is too many goes at once, first where it is not counted on.
  const order = [...shares].sort(
    ([a, x], [b, y]) => Number(x.phase === 'Active') - Number(y.phase === 'Active') || (a < b ? -1 : 1),
  );
  for (const [cluster, share] of order) {
    if (comesBack(scene, scene.shares, cluster)) {
      next.set(cluster, recounted(scene, share, heldCount(share)));
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
    const isThere = isHeard(scene, cluster) && !awaitsData(scene, cluster);
    const more = isThere ? Math.max(0, Math.min(free, goalOf(cluster) - now)) : 0;
    free -= more;
    next.set(cluster, share ? recounted(scene, share, now + more) : newcomer({ replicas: more }));
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
    if (soleTaker(scene.plan, from) !== cluster) return false;
    if (share.held) return !isCopiedTo(scene, from, share, cluster);
    return (share.replicas ?? 0) > 0 || !hasCopied(scene, from, cluster);
  });
}

/** Stopped, or with nothing to run, it stays while its data is brought to where it is to be. Undefined: it need not. */
function keptForData(scene: Scene, cluster: string, share: Share, mayStop: boolean): Share | undefined {
  if (!takesData(scene)) return undefined;
  if (share.held || (share.replicas ?? 0) > 0) return recounted(scene, share, 0);
  const to = soleTaker(scene.plan, cluster);
  // Nothing is brought over what runs there already.
  if (to === undefined || (scene.shares[to]?.replicas ?? 0) > 0) return undefined;
  if (hasCopied(scene, cluster, to)) return undefined;
  const since = new Date(scene.now).toISOString();
  return mayStop ? { ...share, held: { replicas: 0, since } } : share;
}

function recounted(scene: Scene, share: Share, replicas: number): Share {
  const before = share.replicas ?? 0;
  if (replicas === before) return share;
  const { readySince: _restarts, settled: _settled, held: _held, ...rest } = share;
  const held = heldCount(share);
  return {
    ...rest,
    replicas,
    ...(replicas > before ? { phase: 'Joining' as const } : {}),
    ...(replicas < held ? { held: { replicas: held, since: new Date(scene.now).toISOString() } } : {}),
  };
}

/** Full copies: the old one is gone before the new one is made. */
export function nextWholeOnce(scene: Scene): Next {
  const { goal } = scene.plan;
  const staying = present(scene).filter(([cluster]) => goal.has(cluster) || !isSeen(scene, cluster));
  const isThere = staying.every(([cluster]) => goal.has(cluster));
  if (!isThere || Object.keys(scene.shares).length > staying.length) return new Map(staying);
  return new Map([...goal].map(([c, part]) => [c, presentShare(scene, c) ?? newcomer(part)]));
}
