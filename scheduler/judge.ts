import type { Spread } from '../cluster/kinds.ts';
import { volumesAnnotation } from '../cluster/names.ts';
import type { NoRoom, Unplaced } from '../cluster/no-room.ts';
import type { Resources } from '../cluster/pod-spec.ts';
import type { PlacedSpread } from '../cluster/spread.ts';
import type { Filled, PhysicalCluster } from '../cluster/types.ts';
import { subtractQuantity, zeroQuantity } from '../kube/quantity.ts';
import { type Candidate, objection } from './filter.ts';
import { refusedBy, sortedNames } from './refused.ts';
import { nothingUsed, type Usage } from './usage.ts';
import { leavesOut, tolerationsOf, type Wish } from './wishes.ts';

export interface Choice {
  clusters: string[];
  reasons: Record<string, string>;
  /** It is not where it ought to be, for want of a place: look again when something changes. */
  blocked: boolean;
  /** Where it stays only until it is its turn to leave. */
  waits?: string[];
  /** Any cluster that comes or changes may be one for it. */
  open?: boolean;
  /** What is named, where all of it is asked for. */
  wanted?: string[];
  /** Of what has replicas: over which values they are spread. */
  spread?: PlacedSpread;
  /** Of what overflows: see PlacementSpec. */
  filled?: Filled[];
  noRoom?: NoRoom | undefined;
  unplaced?: Unplaced | undefined;
  /** Of a claim: see PlacementSpec. */
  givenUp?: Record<string, string[]>;
  copiedFrom?: string[];
  /** Without a word of anybody it may be time for something: room that comes, what uses a claim that is in place. */
  lookAgain?: boolean;
}

export interface Situation {
  clusters: ReadonlyMap<string, PhysicalCluster>;
  notTaken: ReadonlyMap<string, string>;
  used: Usage;
  /** Where the object is, or was last told to be. */
  current: readonly string[];
  /** Of these, those that are drained and that it is not its turn to leave. */
  waits?: ReadonlySet<string>;
  /** By cluster, the claim whose data is there: nobody but a user moves the object away from it. */
  claims: ReadonlyMap<string, string>;
  /** Of these, one that is to be copied and cannot be, and why. */
  uncopied?: string | undefined;
  /** Milliseconds since 1970. */
  now: number;
  /** See listenedSince in scheduler/tolerations.ts. */
  listened?: number;
  /** How many pods `used` counts for it already, by cluster. */
  had?: ReadonlyMap<string, number>;
  /** See keptOf. */
  kept?: ReadonlyMap<string, number>;
  /** How many it was given last, and its autoscalers' bounds: see Placement. */
  filled?: readonly Filled[] | undefined;
  most?: Readonly<Record<string, number>> | undefined;
  usesClaims?: boolean;
  /** How many pods it has in all, as far as its object says; of what is whole wherever it is, one. */
  pods: number;
  /** How its kind is divided over clusters. */
  divided: Spread | undefined;
  /** Of a custom resource: see Candidate. */
  kind?: string | undefined;
  /** Why other workloads of its Namespace, or its data, speak against a cluster. */
  company?: (name: string) => string | undefined;
  /** What so many of its pods ask for. */
  need(pods: number): Resources;
  /** See misfitOf. It keeps nothing away where there is no better place. */
  misfit?: ((cluster: string) => string | undefined) | undefined;
}

export type Judged = readonly [Candidate, string | undefined][];
export type Reasons = readonly (readonly [string, string])[];

/** For the record only, so that it does not grow with the number of clusters. */
const reasonLimit = 50;
/** What may be the name of a PhysicalCluster; anything else that an annotation says is no key for a record. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * `among`: over how many of them its pods are divided equally; or how many come to each. `refused`: what `refusedBy` says of
 * these names, for whoever has asked already.
 */
export function judge(
  names: readonly string[],
  situation: Situation,
  {
    among,
    wish,
    refused = refusedBy(wish, names, situation),
  }: {
    among: number | ((name: string) => number);
    wish?: Wish;
    refused?: ReadonlyMap<string, string>;
  },
): Judged {
  const equal = typeof among === 'number' && situation.need(Math.ceil(situation.pods / Math.max(1, among)));
  const tolerations = tolerationsOf(wish);
  const { now, listened } = situation;
  const current = new Set(situation.current);
  return names.map((name) => {
    const [cluster, unwanted] = [situation.clusters.get(name), refused.get(name)];
    const isThere = current.has(name);
    // Of most clusters that is all that there is to say; whoever is there is asked about its data, too.
    if (unwanted !== undefined && cluster && !isThere)
      return [
        { name, cluster, refused: unwanted, now, isThere, need: nothingUsed, used: nothingUsed },
        unwanted,
      ];
    const candidate: Candidate = {
      name,
      cluster,
      refused: unwanted,
      tolerations,
      now,
      listened,
      notTaken: situation.notTaken.get(name),
      isThere,
      waits: situation.waits?.has(name) === true,
      need: equal || situation.need(typeof among === 'number' ? 0 : among(name)),
      used: usedByOthers(situation, name),
      kind: situation.kind,
    };
    return [candidate, objection(candidate)];
  });
}

/** What it has there itself, as what leaves has, does not keep it from being there. */
function usedByOthers({ used, had, need }: Situation, name: string): Resources {
  const [all, own] = [used.get(name) ?? nothingUsed, had?.get(name) ?? 0];
  if (own === 0) return all;
  const ours = need(own);
  return new Map(
    [...all].map(([resource, n]) => [resource, subtractQuantity(n, ours.get(resource) ?? zeroQuantity)]),
  );
}

/** What may be chosen from; with it where its data holds it, which only a user's own word leaves out. */
export function universe(wish: Wish, { clusters, current, claims }: Situation): readonly string[] {
  if (!wish.names) return sortedNames(clusters);
  const held = current.filter((name) => claims.has(name) && clusters.has(name) && !leavesOut(wish, name));
  return [...new Set([...wish.names, ...held])].sort();
}

export function fittingOf(judged: Judged): Candidate[] {
  return judged.filter(([, reason]) => reason === undefined).map(([candidate]) => candidate);
}

export function refusals(judged: Judged, held?: ReadonlyMap<string, string>): Reasons {
  const reasons: [string, string][] = [];
  for (const [{ name }, reason] of judged)
    if (reason !== undefined) reasons.push([name, held?.get(name) ?? reason]);
  return reasons;
}

/** Where it would be driven away, but not from its data. A cluster that no longer exists holds none. */
export function heldByClaims(
  judged: Judged,
  { claims, uncopied }: Situation,
  wish?: Wish,
): Map<string, string> {
  if (claims.size === 0) return new Map();
  return new Map(
    judged.flatMap(([{ name, cluster, isThere }, reason]): [string, string][] => {
      const claim = claims.get(name);
      if (reason === undefined || claim === undefined || !cluster || !isThere) return [];
      return leavesOut(wish, name) ? [] : [[name, holdsData(claim, name, uncopied)]];
    }),
  );
}

/** `recreate` would give all of its data up, also what can be copied. */
export function uncopiedWords(uncopied: string): string {
  return `its data is to come along, and its claim ${uncopied}`;
}

function holdsData(claim: string, cluster: string, uncopied: string | undefined): string {
  if (uncopied?.startsWith(`${claim} `)) return uncopiedWords(uncopied);
  return (
    `its claim ${claim} holds data on ${cluster}, which cannot be moved; ` +
    `annotate the workload with ${volumesAnnotation}: recreate to have it move without the data`
  );
}

/** Of where nobody asks for it to be, and it is. */
const unspoken = 'it is there already, and nothing else fits: it stays';

/** Nothing fits, nothing moves: but a cluster that no longer exists holds nothing. */
export function stay(
  { current, clusters }: Situation,
  reasons: Reasons,
  otherwise = 'nothing else fits',
): Choice {
  const kept = current.filter((name) => clusters.has(name)).sort();
  const spoken = new Set(reasons.map(([name]) => name));
  const silent = kept.filter((name) => !spoken.has(name)).map((name) => [name, unspoken] as const);
  const notes = reasons.map(([name, why]): [string, string] => [
    name,
    kept.includes(name) ? `${why}, but ${otherwise}: it stays` : why,
  ]);
  return { clusters: kept, reasons: record([...silent, ...notes]), blocked: true };
}

export function record(reasons: Iterable<Reasons[number]>): Record<string, string> {
  const kept: [string, string][] = [];
  for (const [name, why] of reasons) {
    if (kept.length === reasonLimit) break;
    if (namePattern.test(name)) kept.push([name, why]);
  }
  return Object.fromEntries(kept);
}
