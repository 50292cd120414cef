import { clustersAnnotation } from '../cluster/names.ts';
import type { Resources } from '../cluster/pod-spec.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { type Candidate, objection } from './filter.ts';
import { best } from './score.ts';
import { nothingUsed, type Usage } from './usage.ts';

export interface Choice {
  clusters: string[];
  reasons: Record<string, string>;
  /** It is not where it ought to be, for want of a place: look again when something changes. */
  blocked: boolean;
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

/** For the record only, so that it does not grow with the number of clusters. */
const reasonLimit = 50;
/** What may be the name of a PhysicalCluster; anything else that an annotation says is no key for a record. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

function candidates(names: readonly string[], situation: Situation, among: number): Candidate[] {
  const need = situation.need(among);
  return names.map((name) => ({
    name,
    cluster: situation.clusters.get(name),
    notTaken: situation.notTaken.get(name),
    isThere: situation.current.includes(name),
    need,
    used: situation.used.get(name) ?? nothingUsed,
  }));
}

/** Every named cluster that nothing speaks against; where none is left, it stays where it is. */
export function chooseNamed(names: readonly string[], source: string, situation: Situation): Choice {
  const judged = judge(candidates(names, situation, names.length));
  const fitting = judged.filter(([, reason]) => reason === undefined).map(([c]) => c.name);
  const held = heldByClaims(judged, situation);
  const clusters = [...fitting, ...held.keys()].sort();
  const reasons = judged.map(([c, reason]): [string, string] => [
    c.name,
    held.get(c.name) ?? reason ?? `named by ${source}`,
  ]);
  if (clusters.length > 0) return { clusters, reasons: record(reasons), blocked: held.size > 0 };
  return stay(situation, reasons, `${source} names no other`);
}

/** Without any wish: where it is, else where the rest of its namespace is, else the best place. */
export function chooseFreely(situation: Situation, rest: ReadonlyMap<string, number>): Choice {
  const { current } = situation;
  const there = judge(candidates(current, situation, current.length));
  const stays = there.filter(([, reason]) => reason === undefined).map(([c]) => c.name);
  const held = heldByClaims(there, situation);
  const driven = there.flatMap(([c, reason]): [string, string][] =>
    reason === undefined ? [] : [[c.name, held.get(c.name) ?? reason]],
  );
  if (stays.length + held.size > 0) {
    const kept = stays.map((name): [string, string] => [name, 'it is there already']);
    const clusters = [...stays, ...held.keys()].sort();
    return { clusters, reasons: record([...kept, ...driven]), blocked: held.size > 0 };
  }
  const others = [...situation.clusters.keys()].filter((name) => !current.includes(name)).sort();
  const judged = judge(candidates(others, situation, 1));
  const fitting = judged.filter(([, reason]) => reason === undefined).map(([c]) => c);
  const refused = judged.flatMap(([c, reason]): [string, string][] =>
    reason === undefined ? [] : [[c.name, reason]],
  );
  const most = Math.max(0, ...fitting.map((c) => rest.get(c.name) ?? 0));
  const chosen = best(fitting.filter((c) => (rest.get(c.name) ?? 0) === most));
  if (!chosen) return stay(situation, [...driven, ...refused]);
  const why = most > 0 ? 'the rest of the namespace is there' : 'it has the most room';
  return {
    clusters: [chosen.name],
    reasons: record([[chosen.name, why], ...driven, ...refused]),
    blocked: false,
  };
}

function judge(list: readonly Candidate[]): [Candidate, string | undefined][] {
  return list.map((candidate) => [candidate, objection(candidate)]);
}

/** Where it would be driven away, but not from its data. A cluster that no longer exists holds none. */
function heldByClaims(
  judged: readonly [Candidate, string | undefined][],
  { claims }: Situation,
): Map<string, string> {
  return new Map(
    judged.flatMap(([{ name, cluster, isThere }, reason]): [string, string][] => {
      const claim = claims.get(name);
      if (reason === undefined || claim === undefined || !cluster || !isThere) return [];
      return [[name, holdsData(claim, name)]];
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
function stay(
  { current, clusters }: Situation,
  reasons: readonly [string, string][],
  otherwise = 'nothing else fits',
): Choice {
  const kept = current.filter((name) => clusters.has(name)).sort();
  const notes = reasons.map(([name, why]): [string, string] => [
    name,
    kept.includes(name) ? `${why}, but ${otherwise}: it stays` : why,
  ]);
  return { clusters: kept, reasons: record(notes), blocked: true };
}

function record(reasons: readonly [string, string][]): Record<string, string> {
  return Object.fromEntries(reasons.filter(([name]) => namePattern.test(name)).slice(0, reasonLimit));
}
