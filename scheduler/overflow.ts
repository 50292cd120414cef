import { eachCluster } from '../cluster/spread.ts';
import { fill, inOrder } from './in-order.ts';
import {
  type Choice,
  fittingOf,
  type Judged,
  judge,
  type Reasons,
  record,
  refusals,
  type Situation,
  stay,
  universe,
} from './judge.ts';
import { hasRoomFor, whyOf } from './overflow-words.ts';
import { noRoomOf, type Place, placeOf } from './room.ts';
import type { Wish } from './wishes.ts';

/**
 * Only of what is divided by number: ordinals and data are not moved for want of room, nor what a spread or a number says. On
 * two clusters a claim would be two volumes.
 */
export function mayOverflow(wish: Wish, { divided, usesClaims }: Situation): boolean {
  if (wish.overflowsBy === undefined || wish.spread || typeof wish.count === 'number') return false;
  return divided === 'counts' && usesClaims !== true;
}

/**
 * One cluster as long as all of it has room there, and one more for the rest when it has not. Those come first where it
 * is, in the order in which it came there, and those of the first groups.
 */
export function chooseOverflow(wish: Wish, situation: Situation, rest: ReadonlyMap<string, number>): Choice {
  const { pods: total } = situation;
  const judged = judge(universe(wish, situation), situation, { among: () => Math.min(1, total), wish });
  const places = fittingOf(judged).map((candidate) => placeOf(candidate, situation));
  const there = inOrder(places, situation);
  const { filled: now, keeps } = fill(total, { groups: inGroups(places, wish, situation), there, rest });
  const filled = asBefore(now, places, situation);
  const short = total - sum(filled);
  const refused = refusals(judged);
  if (filled.size === 0 || (short > 0 && (there.length === 0 || isDriven(situation, places))))
    return {
      ...stays(places, refused, situation),
      ...lackOf(short, judged, situation, { runs: runningOf(judged, filled, situation) }),
    };
  const given = [...filled].map(([cluster, pods]) => ({ cluster, pods }));
  const home =
    there.find(({ candidate: { name } }) => filled.has(name))?.candidate.name ?? given[0]?.cluster ?? '';
  const on = addShort(filled, short, { there, home });
  const said = { wish, filled, home, short, keeps: filled.get(keeps ?? '') === 1 ? keeps : undefined };
  const shut = new Map(places.map((place) => [place.candidate.name, short > 0 ? place.shut : undefined]));
  const chosen = [...filled].map(([name, n]) => {
    const why = [whyOf(name, n, said), shut.get(name)];
    return [name, why.filter((text) => text !== undefined).join('; ')] as const;
  });
  const clusters = [...filled.keys()].sort();
  const left = places.filter(({ candidate: { name } }) => !filled.has(name));
  const notNeeded = left.map(
    ({ candidate: { name } }) =>
      [name, situation.misfit?.(name) ?? 'not needed: there is room elsewhere'] as const,
  );
  const isTight = there.some((place) => place.isTight);
  const isLate = wish.groups !== undefined && clusters.some((name) => !wish.groups?.[0]?.includes(name));
  return {
    clusters,
    reasons: record([...chosen, ...refused, ...notNeeded]),
    blocked: short > 0,
    open: true,
    filled: given,
    ...lackOf(short, judged, situation, { on }),
    ...(clusters.length > 1 && { spread: spreadBy(filled, places, situation) }),
    ...((clusters.length > 1 || isTight || isLate) && { lookAgain: true }),
  };
}

/** Of so many pods for which there is no room, what is said. `runs`: how many of them are there all the same, as they were. */
function lackOf(
  short: number,
  judged: Judged,
  situation: Situation,
  { on, runs = 0 }: { on?: string[]; runs?: number },
): Pick<Choice, 'noRoom' | 'unplaced'> {
  const noRoom = noRoomOf(short, judged, situation, on);
  if (noRoom) return { noRoom };
  const pods = short - runs;
  return pods > 0 ? { unplaced: { pods, of: situation.pods } } : {};
}

/** How many it has, and has room for, where it is driven away: they run there until there is room for all. */
function runningOf(judged: Judged, filled: ReadonlyMap<string, number>, situation: Situation): number {
  const there = judged.flatMap(([candidate]) => (candidate.isThere && candidate.cluster ? [candidate] : []));
  return there.reduce((all, candidate) => {
    const { room, had } = placeOf(candidate, situation);
    return all + Math.max(0, Math.min(room, had) - (filled.get(candidate.name) ?? 0));
  }, 0);
}

/** Something drives it away from where it is. */
function isDriven({ current, clusters }: Situation, places: readonly Place[]): boolean {
  return current.some(
    (name) => clusters.has(name) && !places.some(({ candidate }) => candidate.name === name),
  );
}

/** All of it, as it is divided. */
function stays(places: readonly Place[], refused: Reasons, situation: Situation): Choice {
  const { pods, filled = [] } = situation;
  const small = places.map(({ candidate: { name }, room }) => [name, hasRoomFor(room, pods)] as const);
  const choice = stay(situation, [...small, ...refused]);
  const kept = filled.filter(({ cluster }) => choice.clusters.includes(cluster));
  const counts = new Map(kept.map(({ cluster, pods }) => [cluster, pods]));
  const isDivided = kept.length > 1 && kept.length === choice.clusters.length;
  return {
    ...choice,
    open: true,
    ...(kept.length > 0 && { filled: kept }),
    ...(isDivided && { spread: spreadBy(counts, places, situation) }),
  };
}

/** What has room nowhere is where it runs already, the rest of it at home. Answers where. */
function addShort(
  filled: Map<string, number>,
  short: number,
  { there, home }: { there: readonly Place[]; home: string },
): string[] {
  let left = short;
  const on = new Set<string>();
  const add = (name: string, n: number) => {
    if (n === 0) return;
    on.add(name);
    filled.set(name, (filled.get(name) ?? 0) + n);
    left -= n;
  };
  for (const { candidate, had } of there)
    add(candidate.name, Math.min(left, Math.max(0, had - (filled.get(candidate.name) ?? 0))));
  add(home, left);
  return [...on].sort();
}

function sum(filled: ReadonlyMap<string, number>): number {
  return [...filled.values()].reduce((all, n) => all + n, 0);
}

/** What runs stays: as long as it needs no other clusters, and has room on each, none of it moves. */
function asBefore(
  now: Map<string, number>,
  places: readonly Place[],
  { filled = [], pods }: Situation,
): Map<string, number> {
  const before = new Map(filled.map(({ cluster, pods }) => [cluster, pods]));
  const hasRoom = ({ candidate: { name }, room }: Place) => room >= (before.get(name) ?? 0);
  const isSame = before.size === now.size && [...before.keys()].every((name) => now.has(name));
  return isSame && sum(before) === pods && places.every(hasRoom) ? before : now;
}

function spreadBy(
  filled: ReadonlyMap<string, number>,
  places: readonly Place[],
  { most: before = {} }: Situation,
): NonNullable<Choice['spread']> {
  const values = Object.fromEntries([...filled.keys()].map((name) => [name, name]));
  const most: Record<string, number> = {};
  for (const { candidate, room, isBounded } of places) {
    const n = filled.get(candidate.name);
    if (n === undefined || !isBounded) continue;
    const had = Object.hasOwn(before, candidate.name) ? (before[candidate.name] ?? 0) : 0;
    // What is still true, and leaves something to come, is not written anew with each pod of anybody.
    most[candidate.name] = had <= room && had > n ? had : room;
  }
  const replicas = Object.fromEntries(filled);
  const order = [...filled.keys()];
  return { topologyKey: eachCluster, replicas, values, order, ...(Object.keys(most).length > 0 && { most }) };
}

/**
 * In their order; without groups all at once. Of what asks for a node each has first where it is, and where such a node is, and then the
 * others: no group keeps it from its node, nor takes it back to where there is none.
 */
function inGroups(places: readonly Place[], { groups }: Wish, { misfit }: Situation): Place[][] {
  const inEach = (some: readonly Place[]) =>
    groups?.map((group) => some.filter(({ candidate: { name } }) => group.includes(name))) ?? [[...some]];
  if (!misfit) return inEach(places);
  const isFirst = ({ candidate: { name, isThere } }: Place) => isThere || misfit(name) === undefined;
  const first = new Set(places.filter(isFirst));
  return [...inEach([...first]), ...inEach(places.filter((place) => !first.has(place)))];
}
