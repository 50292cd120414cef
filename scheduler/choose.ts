import { clustersAnnotation } from '../cluster/names.ts';
import type { Resources } from '../cluster/pod-spec.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { type Candidate, objection } from './filter.ts';
import { best } from './score.ts';
import { nothingUsed, type Usage } from './usage.ts';
import { leavesOut, refusal, type Wish } from './wishes.ts';

export interface Choice {
  clusters: string[];
  reasons: Record<string, string>;
  /** It is not where it ought to be, for want of a place: look again when something changes. */
  blocked: boolean;
  /** Any cluster that comes or changes may be one for it. */
  open?: boolean;
  /** What is named, where all of it is asked for. */
  wanted?: string[];
}

export interface Situation {
  clusters: ReadonlyMap<string, PhysicalCluster>;
  notTaken: ReadonlyMap<string, string>;
  used: Usage;
  /** Where the object is, or was last told to be. */
  current: readonly string[];
  /** By cluster, the claim whose data is there: nobody but a user moves the object away from it. */
  claims: ReadonlyMap<string, string>;
  /** What each of `among` clusters would have to take. */
  need(among: number): Resources;
}

type Judged = readonly [Candidate, string | undefined][];
type Reasons = readonly (readonly [string, string])[];

/** For the record only, so that it does not grow with the number of clusters. */
const reasonLimit = 50;
/** What may be the name of a PhysicalCluster; anything else that an annotation says is no key for a record. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Where an object is to be. `rest`: how many others of its Namespace are on each cluster. */
export function choose(
  wish: Wish | undefined,
  situation: Situation,
  rest: ReadonlyMap<string, number>,
): Choice {
  if (!wish) return chooseFreely(situation, rest);
  if (wish.count !== 'all') return chooseSome(wish, situation, rest);
  return wish.groups ? chooseGroup(wish, wish.groups, situation) : chooseAll(wish, situation);
}

function judge(
  names: readonly string[],
  situation: Situation,
  { among, wish }: { among: number; wish?: Wish },
): Judged {
  const need = situation.need(among);
  const tolerations = wish?.layers.flatMap((said) => said.tolerations ?? []) ?? [];
  return names.map((name) => {
    const cluster = situation.clusters.get(name);
    const candidate = {
      name,
      cluster,
      refused: wish && refusal(wish, name, cluster),
      tolerations,
      notTaken: situation.notTaken.get(name),
      isThere: situation.current.includes(name),
      need,
      used: situation.used.get(name) ?? nothingUsed,
    };
    return [candidate, objection(candidate)];
  });
}

/** Every cluster of the wish that nothing speaks against; where none is left, it stays where it is. */
export function chooseAll(wish: Wish, situation: Situation): Choice {
  const from = universe(wish, situation);
  const asked = from.filter((name) => refusal(wish, name, situation.clusters.get(name)) === undefined);
  const judged = judge(from, situation, { among: asked.length, wish });
  const held = heldByClaims(judged, situation, wish);
  const fitting = fittingOf(judged).map(({ name }) => name);
  const said = `${wish.layers.some(({ names, isPolicy }) => names && !isPolicy) ? 'named by' : 'by'} ${wish.source}`;
  const chosen = fitting.map((name) => [name, said] as const);
  const refused = refusals(judged, held);
  const more = wish.names ? { wanted: asked } : { open: true };
  const clusters = [...fitting, ...held.keys()].sort();
  if (clusters.length > 0)
    return { clusters, reasons: record([...chosen, ...refused]), blocked: held.size > 0, ...more };
  return { ...stay(situation, refused, wish.names && `${wish.source} names no other`), ...more };
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
  const joining = takeInOrder(others ?? [], least - held.size - kept.length, { rest, groups });
  const names = [...kept, ...joining].map(({ name }) => name);
  const clusters = [...names, ...held.keys()].sort();
  const by = typeof wish.count === 'number' ? `by ${wish.source}` : `chosen within ${wish.source}`;
  const left = typeof wish.count === 'number' ? fitting.filter(({ name }) => !names.includes(name)) : [];
  const reasons = [
    ...names.map((name) => [name, by] as const),
    ...refusals(judged, held),
    ...left.map(({ name }) => [name, `not needed: ${wish.source} asks for ${least}`] as const),
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
  const elsewhere = [...situation.clusters.keys()].filter((name) => !current.includes(name)).sort();
  const judged = judge(elsewhere, situation, { among: 1 });
  const refused = refusals(judged);
  const [chosen] = take(fittingOf(judged), 1, rest);
  if (!chosen) return stay(situation, [...driven, ...refused]);
  const why = rest.get(chosen.name) ? 'the rest of the namespace is there' : 'it has the most room';
  return {
    clusters: [chosen.name],
    reasons: record([[chosen.name, why], ...driven, ...refused]),
    blocked: false,
  };
}

/** What may be chosen from; with it where its data holds it, which only a user's own word leaves out. */
function universe(wish: Wish, { clusters, current, claims }: Situation): string[] {
  const held = current.filter((name) => claims.has(name) && clusters.has(name) && !leavesOut(wish, name));
  return [...new Set([...(wish.names ?? clusters.keys()), ...held])].sort();
}

/** Those of the first groups first; without groups all are of one. */
function takeInOrder(
  from: readonly Candidate[],
  most: number,
  { rest, groups }: { rest: ReadonlyMap<string, number>; groups: NonNullable<Wish['groups']> },
): Candidate[] {
  const ordered = groups.map((group) => from.filter(({ name }) => group.includes(name)));
  const taken: Candidate[] = [];
  for (const group of groups.length > 0 ? ordered : [from])
    taken.push(...take(group, most - taken.length, rest));
  return taken;
}

/** The `most` best: those where most of the rest of the Namespace is come first. */
function take(from: readonly Candidate[], most: number, rest: ReadonlyMap<string, number>): Candidate[] {
  if (from.length <= most) return [...from];
  const taken: Candidate[] = [];
  const left = new Set(from);
  const ofRest = ({ name }: Candidate) => rest.get(name) ?? 0;
  while (taken.length < most) {
    const highest = Math.max(...[...left].map(ofRest));
    const next = best([...left].filter((candidate) => ofRest(candidate) === highest));
    if (!next) break;
    taken.push(next);
    left.delete(next);
  }
  return taken;
}

function fittingOf(judged: Judged): Candidate[] {
  return judged.flatMap(([candidate, reason]) => (reason === undefined ? [candidate] : []));
}

function refusals(judged: Judged, held?: ReadonlyMap<string, string>): Reasons {
  return judged.flatMap(([{ name }, reason]) =>
    reason === undefined ? [] : [[name, held?.get(name) ?? reason] as const],
  );
}

/** Where it would be driven away, but not from its data. A cluster that no longer exists holds none. */
function heldByClaims(judged: Judged, { claims }: Situation, wish?: Wish): Map<string, string> {
  return new Map(
    judged.flatMap(([{ name, cluster, isThere }, reason]): [string, string][] => {
      const claim = claims.get(name);
      if (reason === undefined || claim === undefined || !cluster || !isThere) return [];
      return leavesOut(wish, name) ? [] : [[name, holdsData(claim, name)]];
    }),
  );
}

function holdsData(claim: string, cluster: string): string {
  return (
    `its claim ${claim} holds data on ${cluster}, which cannot be moved; ` +
    `annotate the workload with ${clustersAnnotation} to move it without the data`
  );
}

/** Nothing fits, nothing moves: but a cluster that no longer exists holds nothing. */
function stay({ current, clusters }: Situation, reasons: Reasons, otherwise = 'nothing else fits'): Choice {
  const kept = current.filter((name) => clusters.has(name)).sort();
  const notes = reasons.map(([name, why]): [string, string] => [
    name,
    kept.includes(name) ? `${why}, but ${otherwise}: it stays` : why,
  ]);
  return { clusters: kept, reasons: record(notes), blocked: true };
}

function record(reasons: Reasons): Record<string, string> {
  return Object.fromEntries(reasons.filter(([name]) => namePattern.test(name)).slice(0, reasonLimit));
}
