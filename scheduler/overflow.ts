import { limitsOf } from '../cluster/capacity.ts';
import { eachCluster } from '../cluster/spread.ts';
import { scaledQuantity, subtractQuantity, zeroQuantity } from '../kube/quantity.ts';
import type { Candidate } from './filter.ts';
import { type Choice, fittingOf, judge, record, refusals, type Situation, stay, universe } from './judge.ts';
import { best } from './score.ts';
import { nothingUsed } from './usage.ts';
import type { Wish } from './wishes.ts';

/** What has come to a second cluster goes back only where this part of the first ones' room stays free then. */
const freePart = 10;

/** The finest that an amount can be: a power of ten. */
const nano = -9;

/** A place, and for how many of the workload's pods in all it has room. */
interface Place {
  candidate: Candidate;
  room: number;
  /** There is an end of it that the workload may come to. */
  isBounded: boolean;
  /** How many of them it counts with already. */
  had: number;
}

/** Only of what is divided by number: ordinals and data are not moved for want of room, nor what a spread or a number says. */
export function mayOverflow(wish: Wish, { divided, claims }: Situation): boolean {
  if (wish.overflowsBy === undefined || wish.spread || typeof wish.count === 'number') return false;
  return divided === 'counts' && claims.size === 0;
}

/**
 * One cluster as long as all of it has room there, and one more for the rest when it has not. Those come first where it
 * is, and those of the first groups.
 */
export function chooseOverflow(wish: Wish, situation: Situation, rest: ReadonlyMap<string, number>): Choice {
  const total = situation.pods;
  const judged = judge(universe(wish, situation), situation, {
    among: () => Math.min(1, total),
    wish,
  });
  const fitting = fittingOf(judged).map((candidate) => placeOf(candidate, situation));
  const filled = fill(total, inGroups(fitting, wish), rest);
  const isThere = situation.current.some((name) => fitting.some(({ candidate }) => candidate.name === name));
  const placed = [...filled.values()].reduce((sum, n) => sum + n, 0);
  const refused = refusals(judged);
  if (filled.size === 0 || (placed < total && !isThere)) {
    const small = fitting.map(({ candidate: { name }, room }) => [name, hasRoomFor(room, total)] as const);
    return { ...stay(situation, [...small, ...refused]), open: true };
  }
  const [first = ''] = filled.keys();
  const short = total - placed;
  filled.set(first, (filled.get(first) ?? 0) + short);
  const chosen = [...filled].map(([name, n]) => [name, whyOf(name, n, { wish, filled, short })] as const);
  const clusters = [...filled.keys()].sort();
  const left = fitting.filter(({ candidate: { name } }) => !filled.has(name));
  const notNeeded = left.map(
    ({ candidate: { name } }) => [name, 'not needed: there is room elsewhere'] as const,
  );
  return {
    clusters,
    reasons: record([...chosen, ...refused, ...notNeeded]),
    blocked: short > 0,
    open: true,
    ...(clusters.length > 1 && { spread: spreadBy(filled, fitting), lookAgain: true }),
  };
}

function spreadBy(
  filled: ReadonlyMap<string, number>,
  places: readonly Place[],
): NonNullable<Choice['spread']> {
  const values = Object.fromEntries([...filled.keys()].map((name) => [name, name]));
  const bounded = places.filter(({ candidate: { name }, isBounded }) => filled.has(name) && isBounded);
  const most = Object.fromEntries(bounded.map(({ candidate: { name }, room }) => [name, room]));
  const replicas = Object.fromEntries(filled);
  return { topologyKey: eachCluster, replicas, values, ...(bounded.length > 0 && { most }) };
}

function hasRoomFor(room: number, total: number): string {
  return `it has room for ${room} of its ${total} pods`;
}

function whyOf(
  name: string,
  n: number,
  { wish, filled, short }: { wish: Wish; filled: ReadonlyMap<string, number>; short: number },
): string {
  const [first = ''] = filled.keys();
  if (filled.size === 1 && short === 0)
    return `all of it has room there; ${wish.overflowsBy} lets it overflow`;
  const most = short > 0 ? `, ${short} more than there is room for anywhere` : '';
  return name === first ? `it takes ${n} pods${most}` : `it takes ${n} pods that have no room on ${first}`;
}

/** In their order; without groups all at once. */
function inGroups(places: readonly Place[], { groups }: Wish): Place[][] {
  if (!groups) return [[...places]];
  return groups.map((group) => places.filter(({ candidate: { name } }) => group.includes(name)));
}

/** How many pods each takes, in the order in which they are filled; whoever takes none is not among them. */
function fill(
  total: number,
  groups: readonly (readonly Place[])[],
  rest: ReadonlyMap<string, number>,
): Map<string, number> {
  const filled = new Map<string, number>();
  let [left, roomBefore] = [total, 0];
  for (const group of groups) {
    const waiting = new Set(group);
    for (;;) {
      const next = nextOf(waiting, left, rest);
      if (!next) break;
      waiting.delete(next);
      const { name } = next.candidate;
      const n = Math.min(left, next.room);
      if (n > 0) filled.set(name, n);
      // A pod stays behind where all but fits without it: else it would come and go with each pod more or less.
      else if (next.had > 0 && next.room > 0 && total > 0 && total > roomBefore - roomBefore / freePart)
        keepOne(filled, name);
      left -= n;
      roomBefore += next.room;
    }
  }
  if (total > 0 || filled.size > 0) return filled;
  // Of nothing, all is where it is.
  const first = nextOf(new Set(groups.flat()), 1, rest);
  return new Map(first ? [[first.candidate.name, 0]] : []);
}

function keepOne(filled: Map<string, number>, name: string): void {
  const last = [...filled].findLast(([, n]) => n > 1);
  if (!last) return;
  filled.set(last[0], last[1] - 1);
  filled.set(name, 1);
}

/** Where it is, the largest part first; then one that takes all that is left; then where most fits. */
function nextOf(
  among: ReadonlySet<Place>,
  left: number,
  rest: ReadonlyMap<string, number>,
): Place | undefined {
  const there = [...among].filter(({ candidate }) => candidate.isThere);
  if (there.length > 0) return there.reduce((first, place) => (isBefore(place, first) ? place : first));
  if (left === 0) return undefined;
  const others = [...among].filter(({ room }) => room > 0);
  const whole = others.filter(({ room }) => room >= left);
  const most = Math.max(...others.map(({ room }) => room));
  const from = whole.length > 0 ? whole : others.filter(({ room }) => room === most);
  const ofRest = ({ candidate: { name } }: Place) => rest.get(name) ?? 0;
  const highest = Math.max(...from.map(ofRest));
  const near = from.filter((place) => ofRest(place) === highest);
  const chosen = best(near.map(({ candidate }) => candidate));
  return near.find(({ candidate }) => candidate === chosen);
}

function isBefore(one: Place, other: Place): boolean {
  if (one.had !== other.had) return one.had > other.had;
  return one.candidate.name < other.candidate.name;
}

/** Room is what its scarcest resource leaves; without known limits there is no end of it. */
function placeOf(candidate: Candidate, { need, had, pods }: Situation): Place {
  const own = had?.get(candidate.name) ?? 0;
  const [each, ours] = [need(1), need(own)];
  let room = Number.POSITIVE_INFINITY;
  for (const [name, limit] of limitsOf(candidate.cluster)) {
    const asked = each.get(name) ?? zeroQuantity;
    if (asked.value <= 0n) continue;
    const used = (candidate.used ?? nothingUsed).get(name) ?? zeroQuantity;
    const others = subtractQuantity(used, ours.get(name) ?? zeroQuantity);
    const left = scaledQuantity(subtractQuantity(limit, others), nano);
    room = Math.min(room, Number(left / scaledQuantity(asked, nano)));
  }
  // More than it needs tells nothing.
  const enough = 10 * Math.max(1, pods);
  return { candidate, room: Math.max(0, Math.min(room, enough)), isBounded: room < enough, had: own };
}
