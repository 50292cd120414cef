import { type PlacedSpread, podsOn, shownKey, topologyOf } from '../cluster/spread.ts';
import type { Candidate } from './filter.ts';
import {
  type Choice,
  fittingOf,
  heldByClaims,
  type Judged,
  judge,
  record,
  refusals,
  type Situation,
  stay,
  universe,
} from './judge.ts';
import { takeOnNodes } from './node-choice.ts';
import { refusedBy } from './refused.ts';
import { inTurns, ofLargest } from './spread-values.ts';
import { takeInOrder } from './take.ts';
import type { Wish } from './wishes.ts';

type Over = NonNullable<Wish['spread']>;
/** By value, sorted by it, what may be chosen there. */
type Places = ReadonlyMap<string, readonly Candidate[]>;

/**
 * One cluster of each value, or so many of all values, or all: of each value first those where it is. What a value without
 * a cluster would have had the others have, as long as it has none.
 */
export function chooseSpread(
  wish: Wish,
  over: Over,
  situation: Situation,
  rest: ReadonlyMap<string, number>,
): Choice {
  const { judged, places } = judgedPlaces(wish, over, situation);
  const held = heldByClaims(judged, situation, wish);
  const numbers = numbersOf(places, wish, { over, situation, rest, held: held.size });
  const chosen = [...places].flatMap(([value, there]) =>
    nearest(there, numbers.get(value) ?? 0, { wish, rest, situation }).map(
      ({ name }) => [name, value] as const,
    ),
  );
  const names = new Set(chosen.map(([name]) => name));
  const left = fittingOf(judged).filter(({ name }) => !names.has(name));
  const key = shownKey(over.topologyKey);
  const reasons = [
    ...chosen.map(([name, value]) => [name, `by ${over.by}: ${key} ${value}`] as const),
    ...refusals(judged, held),
    ...left.map(
      ({ name }) =>
        [
          name,
          situation.misfit?.(name) ??
            notNeeded(wish, over, numbers.get(placeOf(over, situation, name) ?? '')),
        ] as const,
    ),
  ];
  const clusters = [...names, ...held.keys()].sort();
  if (clusters.length > 0)
    return {
      clusters,
      reasons: record(reasons),
      blocked: held.size > 0,
      open: true,
      ...recorded(over, situation, clusters),
    };
  const stays = stay(situation, reasons);
  return { ...stays, open: true, ...recorded(over, situation, stays.clusters) };
}

function notNeeded(wish: Wish, { by, topologyKey }: Over, taken = 0): string {
  if (typeof wish.count === 'number') return `not needed: ${wish.source} asks for ${wish.count}`;
  const what =
    taken > 0 ? `one of its ${shownKey(topologyKey)} is enough` : 'there are enough for its replicas';
  return `not needed: ${what}, ${by} spreads it`;
}

function placeOf({ topologyKey }: Over, { clusters }: Situation, name: string): string | undefined {
  const cluster = clusters.get(name);
  return cluster && topologyOf(topologyKey, cluster);
}

/** What fits, by value. Where a value has nothing that fits, the others have more to take: they are judged anew. */
function judgedPlaces(wish: Wish, over: Over, situation: Situation): { judged: Judged; places: Places } {
  const from = universe(wish, situation);
  const refused = refusedBy(wish, from, situation);
  let asked = from.filter((name) => situation.clusters.has(name) && !refused.has(name));
  const without: [Candidate, string | undefined][] = [];
  for (;;) {
    const judged = judge(
      from.filter((name) => !without.some(([candidate]) => candidate.name === name)),
      situation,
      { wish, among: needs(wish, over, situation, asked), refused },
    );
    const places = new Map<string, Candidate[]>();
    for (const candidate of fittingOf(judged)) {
      const value = placeOf(over, situation, candidate.name) ?? '';
      const there = places.get(value);
      if (there) there.push(candidate);
      else places.set(value, [candidate]);
    }
    const isHad = (name: string) => places.has(placeOf(over, situation, name) ?? '');
    const still = asked.filter(isHad);
    if (still.length === asked.length || still.length === 0) {
      const sorted = [...places].sort(([a], [b]) => (a < b ? -1 : 1));
      return { judged: [...judged, ...without], places: new Map(sorted) };
    }
    const gone = asked.filter((name) => !isHad(name));
    without.push(...judged.filter(([{ name }]) => gone.includes(name)));
    asked = still;
  }
}

/** How many pods would come to a cluster, were all of `asked` to be had. */
function needs(
  wish: Wish,
  over: Over,
  situation: Situation,
  asked: readonly string[],
): (name: string) => number {
  const all = placedOver(over, situation, asked);
  const named = new Map<string, string[]>();
  for (const [name, value] of Object.entries(all.values)) {
    const names = named.get(value);
    if (names) names.push(name);
    else named.set(value, [name]);
  }
  // Where one of a value is taken, which one is not known yet: it has to take all of that.
  const one = [...named.values()].flatMap(([first = '']) => first);
  const each = podsOn(situation.pods, one, all);
  const byValue = new Map(one.map((name) => [all.values[name] ?? '', each.get(name) ?? 0]));
  const beside = (value: string) => {
    const there = named.get(value)?.length ?? 0;
    if (wish.count === 'all') return there;
    return typeof wish.count === 'number' ? Math.min(there, Math.floor(wish.count / named.size)) : 1;
  };
  // Evenly spread, none that is chosen is there for nothing.
  const least = over.replicas ? 0 : Math.min(1, situation.pods);
  return (name) => {
    const value = placeOf(over, situation, name) ?? '';
    return Math.max(least, Math.ceil((byValue.get(value) ?? 0) / Math.max(1, beside(value))));
  };
}

interface Numbers {
  over: Over;
  situation: Situation;
  rest: ReadonlyMap<string, number>;
  /** Clusters that its data holds it on besides. */
  held: number;
}

/** How many clusters of each value. */
function numbersOf(
  places: Places,
  wish: Wish,
  { over, situation, rest, held }: Numbers,
): Map<string, number> {
  if (wish.count === 'all' && !wish.groups)
    return new Map([...places].map(([value, there]) => [value, there.length]));
  const isHere = (value: string) => places.get(value)?.some(({ isThere }) => isThere) === true;
  const here = [...places.keys()].filter(isHere);
  const heads = [...places].flatMap(([value, there]) =>
    isHere(value)
      ? []
      : nearest(there, 1, { wish, rest, situation }).map((candidate) => [value, candidate] as const),
  );
  const kept = (value: string) => places.get(value)?.filter(({ isThere }) => isThere).length ?? 0;
  if (typeof wish.count === 'number') {
    const total = Math.max(0, wish.count - held);
    const others = ofLargest(over, heads, { rest, situation }, total);
    return inTurns(total, [...here, ...others], (value) => places.get(value)?.length ?? 0);
  }
  const more = Math.max(0, mostValuesFor(over, situation) - here.length);
  // Where all come none has to be before another.
  const others =
    more < heads.length ? ofLargest(over, heads, { rest, situation }, more) : heads.map(([value]) => value);
  return new Map([
    ...here.map((value) => [value, kept(value)] as const),
    ...others.map((value) => [value, 1] as const),
  ]);
}

/** One that has no pod there would be there for nothing. */
function mostValuesFor({ replicas }: Over, { divided, pods }: Situation): number {
  if (divided === 'whole') return Infinity;
  if (divided === 'one' || divided === 'single') return 1;
  return replicas ? Infinity : Math.max(1, pods);
}

/** So many of one value: those where it is first, then those with a node for it; those of the first groups first. */
function nearest(
  of: readonly Candidate[],
  most: number,
  { wish: { groups = [] }, rest, situation }: Pick<Numbers, 'rest' | 'situation'> & { wish: Wish },
): Candidate[] {
  const [there, others] = [true, false].map((is) => of.filter(({ isThere }) => isThere === is));
  const kept = takeInOrder(there ?? [], most, { rest, groups });
  return [...kept, ...takeOnNodes(others ?? [], most - kept.length, { rest, groups }, situation)];
}

function placedOver(over: Over, situation: Situation, names: readonly string[]): PlacedSpread {
  const { by: _by, ...spread } = over;
  const values = names.flatMap((name) => {
    const value = placeOf(over, situation, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...spread, values: Object.fromEntries(values) };
}

/** Only of what has replicas, and where each cluster has a value: else it is divided as if nobody spread it. */
function recorded(over: Over, situation: Situation, clusters: readonly string[]): Pick<Choice, 'spread'> {
  if (situation.divided !== 'counts' && situation.divided !== 'ranges') return {};
  const spread = placedOver(over, situation, clusters);
  const isWhole = clusters.length > 0 && Object.keys(spread.values).length === clusters.length;
  const isListed = Object.values(spread.values).every(
    (value) => !over.replicas || Object.hasOwn(over.replicas, value),
  );
  return isWhole && isListed ? { spread } : {};
}
