import { keepsEnded } from '../cluster/life.ts';
import type { Share } from '../cluster/types.ts';
import {
  type Choice,
  fittingOf,
  heldByClaims,
  type Judged,
  judge,
  type Reasons,
  record,
  refusals,
  type Situation,
  stay,
  universe,
} from './judge.ts';
import { preferNodes, takeOnNodes } from './node-choice.ts';
import { chooseOverflow, mayOverflow } from './overflow.ts';
import { leftOf, refusedBy, sortedNames } from './refused.ts';
import { whyBest } from './score.ts';
import { chooseSpread } from './spread.ts';
import { take, takeInOrder } from './take.ts';
import type { Wish } from './wishes.ts';

/**
 * What has ended is where its pods are: see keepsEnded. Where it is to leave all that, any cluster is one for it: it is not made
 * again, and where there is none it goes with the last that is removed. Undefined: it is nowhere any more.
 */
export function chooseEnded(
  situation: Situation,
  shares: Readonly<Record<string, Pick<Share, 'phase'>>>,
  rest: ReadonlyMap<string, number>,
): Choice | undefined {
  const there = Object.keys(shares).filter((name) => shares[name]?.phase !== 'Leaving');
  if (there.length === 0) return undefined;
  const kept = there.filter((name) => keepsEnded(situation.clusters.get(name))).sort();
  const free = kept.length === 0 ? chooseFreely(situation, rest) : undefined;
  // Nothing of it comes: what keeps others from there keeps nothing of this.
  const other = sortedNames(situation.clusters).find((name) => keepsEnded(situation.clusters.get(name)));
  const isRemoved = there.every(
    (name) => situation.clusters.get(name)?.metadata.deletionTimestamp !== undefined,
  );
  if (free?.blocked && (situation.claims.size > 0 || (other === undefined && !isRemoved))) return free;
  const to = free?.blocked ? (other === undefined ? [] : [other]) : free?.clusters;
  const [clusters, why] = to ? [to, isNotMade] : [kept, hasEnded];
  const told = to ? [...new Set([...to, ...there.sort()])] : kept;
  return { clusters, reasons: record(told.map((name) => [name, why])), blocked: false };
}

const isNotMade = 'it has ended, and is not made again';
const hasEnded = 'it has ended there, and stays with its logs until it is deleted';

/** Where an object is to be. `rest`: how many others of its Namespace are on each cluster. */
export function choose(
  wish: Wish | undefined,
  situation: Situation,
  rest: ReadonlyMap<string, number>,
): Choice {
  if (!wish) return chooseFreely(situation, rest);
  if (mayOverflow(wish, situation)) return chooseOverflow(wish, situation, rest);
  if (wish.spread) return chooseSpread(wish, wish.spread, situation, rest);
  if (wish.count !== 'all') return chooseSome(wish, situation, rest);
  return wish.groups ? chooseGroup(wish, wish.groups, situation) : chooseAll(wish, situation);
}

/** Every cluster of the wish that nothing speaks against; where none is left, it stays where it is. */
export function chooseAll(wish: Wish, situation: Situation): Choice {
  const from = universe(wish, situation);
  const refusing = refusedBy(wish, from, situation);
  const asked = leftOf(from, refusing, situation);
  const judged = judge(concerning(from, asked, situation), situation, {
    among: asked.length,
    wish,
    refused: refusing,
  });
  const held = heldByClaims(judged, situation, wish);
  const fitting = fittingOf(judged).map(({ name }) => name);
  const said = `${wish.layers.some(({ names, isPolicy }) => names && !isPolicy) ? 'named by' : 'by'} ${wish.source}`;
  const more = wish.names ? { wanted: [...asked] } : { open: true };
  const clusters = [...fitting, ...held.keys()].sort();
  const refused = () => refusalsIn(from, { judged, refusing, held });
  if (clusters.length > 0)
    return { clusters, reasons: record(saidOf(fitting, said, refused())), blocked: held.size > 0, ...more };
  return { ...stay(situation, [...refused()], wish.names && `${wish.source} names no other`), ...more };
}

/** Whom there is something to ask about: of most clusters that no policy wants it on, that is all that is to be said. */
function concerning(
  from: readonly string[],
  asked: readonly string[],
  { clusters, current }: Situation,
): readonly string[] {
  if (from !== sortedNames(clusters)) return from;
  const left = new Set(asked);
  const there = current.filter((name) => clusters.has(name) && !left.has(name));
  return there.length === 0 ? asked : [...asked, ...there].sort();
}

/** In the order of their names, and no further than somebody reads. */
function* refusalsIn(
  from: readonly string[],
  {
    judged,
    refusing,
    held,
  }: { judged: Judged; refusing: ReadonlyMap<string, string>; held: ReadonlyMap<string, string> },
): Generator<Reasons[number]> {
  const told = new Map(judged.map(([{ name }, why]) => [name, why]));
  for (const name of from) {
    const why = told.get(name) ?? refusing.get(name);
    if (why !== undefined) yield [name, held.get(name) ?? why];
  }
}

function* saidOf(
  names: readonly string[],
  why: string,
  others: Iterable<Reasons[number]>,
): Generator<Reasons[number]> {
  for (const name of names) yield [name, why];
  yield* others;
}

/** All that fit of one group: of the one where it is, else of the first in which anything does. */
function chooseGroup(wish: Wish, groups: NonNullable<Wish['groups']>, situation: Situation): Choice {
  const isHere = (group: readonly string[]) => group.some((name) => situation.current.includes(name));
  const order = [...groups.filter(isHere), ...groups.filter((group) => !isHere(group))];
  const choices = order.map((names) => chooseAll({ ...wish, names }, situation));
  const found = Math.max(
    0,
    choices.findIndex(({ blocked }) => !blocked),
  );
  const { wanted: _, ...choice } = choices[found] ?? stay(situation, []);
  const passed = order.flatMap((names, index) =>
    index === found ? [] : refusals(judge(names, situation, { among: names.length, wish })),
  );
  return { ...choice, reasons: record([...Object.entries(choice.reasons), ...passed]), open: true };
}

/** So many as the wish says, those first where it is; without a number where it is, or one. */
function chooseSome(wish: Wish, situation: Situation, rest: ReadonlyMap<string, number>): Choice {
  const { current } = situation;
  const [least, most] = typeof wish.count === 'number' ? [wish.count, wish.count] : [1, Infinity];
  const among = typeof wish.count === 'number' ? wish.count : Math.max(1, current.length);
  const judged = judge(universe(wish, situation), situation, { among, wish });
  const held = heldByClaims(judged, situation, wish);
  const fitting = fittingOf(judged);
  const [there, others] = [true, false].map((is) => fitting.filter(({ isThere }) => isThere === is));
  const groups = wish.groups ?? [];
  const kept = takeInOrder(there ?? [], most - held.size, { rest, groups });
  const joining = takeOnNodes(others ?? [], least - held.size - kept.length, { rest, groups }, situation);
  const names = [...kept, ...joining].map(({ name }) => name);
  const clusters = [...names, ...held.keys()].sort();
  const by = typeof wish.count === 'number' ? `by ${wish.source}` : `chosen within ${wish.source}`;
  const left = fitting.filter(({ name }) => !names.includes(name));
  const notNeeded =
    typeof wish.count === 'number' ? `not needed: ${wish.source} asks for ${least}` : undefined;
  const reasons = [
    ...names.map((name) => [name, by] as const),
    ...refusals(judged, held),
    ...left.flatMap(({ name }) => {
      const why = situation.misfit?.(name) ?? notNeeded;
      return why === undefined ? [] : [[name, why] as const];
    }),
  ];
  const open = clusters.length < least;
  if (clusters.length === 0) return { ...stay(situation, reasons), open };
  return { clusters, reasons: record(reasons), blocked: held.size > 0, open };
}

/** Without any wish: where it is, else where the rest of its namespace is, else the best place. */
function chooseFreely(situation: Situation, rest: ReadonlyMap<string, number>): Choice {
  const { current } = situation;
  const there = judge(current, situation, { among: current.length });
  const stays = fittingOf(there).map(({ name }) => name);
  const held = heldByClaims(there, situation);
  const driven = refusals(there, held);
  if (stays.length + held.size > 0) {
    const kept = stays.map((name) => [name, 'it is there already'] as const);
    const clusters = [...stays, ...held.keys()].sort();
    return { clusters, reasons: record([...kept, ...driven]), blocked: held.size > 0 };
  }
  const elsewhere = sortedNames(situation.clusters).filter((name) => !current.includes(name));
  const judged = judge(elsewhere, situation, { among: 1 });
  const refused = refusals(judged);
  const { preferred, passed } = preferNodes(fittingOf(judged), situation);
  const [chosen] = take(preferred, 1, rest);
  if (!chosen) return stay(situation, [...driven, ...refused]);
  const why = rest.get(chosen.name) ? 'the rest of the namespace is there' : whyBest(preferred, chosen);
  return {
    clusters: [chosen.name],
    reasons: record([[chosen.name, why], ...driven, ...refused, ...passed]),
    blocked: false,
  };
}
