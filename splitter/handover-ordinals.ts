import type { Share } from '../cluster/types.ts';
import { comesBack, isCopiedTo, isWrittenThere, takesData, wholeClaims } from './copies.ts';
import { failuresOf } from './copy-step.ts';
import { clip, covers, emptyRange, type Range, sizeOf } from './divide.ts';
import { type Part, rangeOf } from './plan.ts';
import { availableOf } from './ready.ts';
import { type Next, newcomer, present, type Scene, sliceOf } from './scene.ts';
import { allCountedOn, heldRange, isAtRest, isHeard, isSeen, isStill } from './stopped.ts';

/**
 * StatefulSets, ordinal by ordinal, the highest first: the next one is stopped when the one before is ready where it
 * belongs. Those that nobody has are started at once.
 */
export function nextRanges(scene: Scene): Next {
  const { goal, first, total } = scene.plan;
  const whole: Range = { start: first, end: first + total };
  const next: Next = new Map();
  for (const [cluster, share] of present(scene)) {
    const isBack = comesBack(scene, scene.shares, cluster);
    const range = clip(isBack ? heldRange(share, first) : rangeOf(share, first), whole);
    const isAwaited = share.held !== undefined && takesData(scene);
    if (!goal.has(cluster) && sizeOf(range) === 0 && !isAwaited) continue;
    const cameBack = isBack ? share.held?.since : share.cameBack;
    next.set(cluster, { ...resized(scene, share, range), ...(cameBack && { cameBack }) });
  }
  let isTaken = false;
  for (const [cluster, part] of [...goal, ...staying(scene)]) {
    const wanted = rangeOf(part, first);
    const share = next.get(cluster);
    const before = share ? rangeOf(share, first) : emptyRange;
    const mayGrow = isHeard(scene, cluster) && areStill(scene, cluster);
    const range = mayGrow ? grown(before, wanted, isFreeFor(scene, next, cluster)) : before;
    isTaken ||= sizeOf(range) > sizeOf(before);
    const numbers = numbersOf(sizeOf(range) > 0 ? range : { start: wanted.end, end: wanted.end });
    const isFresh = sizeOf(range) === 0 && takesData(scene) && wholeClaims(scene).length > 0;
    if (!share) next.set(cluster, { ...newcomer(numbers), ...(isFresh && { fresh: true }) });
    else if (sizeOf(range) > 0) next.set(cluster, resized(scene, share, range));
    else next.set(cluster, { ...share, ...numbers });
  }
  if (!isTaken && isAtRest(scene) && allCountedOn(scene)) shed(scene, next);
  return withGoals(scene, next);
}

/**
 * Nobody's autoscaler has what is to start on `cluster`, nor may that one's add to it: they are heard to have been set since these do nothing.
 * What is nowhere yet waits for none.
 */
function areStill(scene: Scene, cluster: string): boolean {
  const { plan, scaling, shares } = scene;
  const sizeAt = (share: Share) => sizeOf(heldRange(share, plan.first));
  const others = present(scene).filter(([c, share]) => c !== cluster && sizeAt(share) > 0);
  if (others.length === 0) return true;
  const isSet = ([c, share]: [string, Share]) =>
    scene.toldAt?.(c) === undefined || sliceOf(scene, c)?.share?.scaled === share.scaled;
  if (scaling?.still === false && others.some(([c]) => scene.toldAt?.(c))) return false;
  const own = shares[cluster];
  const all: [string, Share][] = own && sizeAt(own) > 0 ? [...others, [cluster, own]] : others;
  return isStill(scene, cluster) && all.every(([c, share]) => isStill(scene, c) && isSet([c, share]));
}

/** What stays as one, since a claim that all of it uses was not copied, grows where it is. */
function staying(scene: Scene): [cluster: string, part: Part][] {
  const { first, total } = scene.plan;
  if (wholeClaims(scene).length === 0) return [];
  return failuresOf(scene, scene.shares).map(({ from }) => [from, { ordinalsStart: first, replicas: total }]);
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
  // Of what all of them use there is one, wherever any of them has it.
  const isAwaited =
    wholeClaims(scene).length > 0 &&
    others.some(
      ([other, share]) => sizeOf(heldRange(share, first)) > 0 && !isCopiedTo(scene, other, share, cluster),
    );
  return (ordinal) =>
    !isAwaited &&
    !isWrittenThere(scene, cluster, ordinal) &&
    !others.some(([other, share]) => has(other, share, ordinal));
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
  const takers = [...goal.keys()].filter((c) => !covers(ranges.get(c) ?? emptyRange, goalOf(c)));
  // What may start nowhere yet stays where it is.
  if (!takers.every((c) => areStill(scene, c))) return;
  const givers = [...ranges]
    .filter(([c, range]) => isSeen(scene, c) && sizeOf(range) > 0 && !covers(goalOf(c), range))
    .filter(([c]) => isStill(scene, c))
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
  const isOne = takesData(scene) && wholeClaims(scene).length > 0;
  const kept = isDown || isOne ? clip(rangeOf(share, first), goalOf(c)) : rest;
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
  const { readySince: _restarts, settled: _settled, held: _held, fresh: _fresh, ...rest } = share;
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
