import { limitsOf } from '../cluster/capacity.ts';
import type { NoRoom } from '../cluster/no-room.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import {
  formatQuantity,
  type Quantity,
  scaledQuantity,
  subtractQuantity,
  zeroQuantity,
} from '../kube/quantity.ts';
import { type Candidate, objection } from './filter.ts';
import { type Judged, record, type Situation } from './judge.ts';
import { nothingUsed } from './usage.ts';

/** A place for a workload that overflows, and for how many of its pods in all it has room. */
export interface Place {
  candidate: Candidate;
  room: number;
  /** There is an end of it that the workload may come to. */
  isBounded: boolean;
  /** How many of them it counts with already. */
  had: number;
  /** Why nothing of it may come there, whatever room there is; undefined: it may. */
  shut: string | undefined;
  /** Nothing but what others ask for, or that nothing new may come, keeps it from having more. */
  isTight: boolean;
}

/** The finest that an amount can be: a power of ten. */
const nano = -9;

/** By cluster, how many pods a workload was given there and has: what others ask for beside it does not take that from it. */
export function keptOf(placement: Placement, had: ReadonlyMap<string, number>): Map<string, number> {
  const { shares = {}, filled } = placement.spec ?? {};
  const given = (name: string) => filled?.find(({ cluster }) => cluster === name)?.pods;
  return new Map(Object.keys(shares).map((name) => [name, given(name) ?? had.get(name) ?? 0]));
}

/** Room is what its scarcest resource leaves; without known limits there is no end of it. */
export function placeOf(candidate: Candidate, situation: Situation): Place {
  const { need, had, pods, kept } = situation;
  const own = had?.get(candidate.name) ?? 0;
  const used = candidate.used ?? nothingUsed;
  let [free, whole] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const [name, asked] of need(1)) {
    const limit = limitOf(candidate.cluster, name);
    if (limit === undefined || asked.value <= 0n) continue;
    const fits = (amount: Quantity) => Number(scaledQuantity(amount, nano) / scaledQuantity(asked, nano));
    free = Math.min(free, fits(subtractQuantity(limit, used.get(name) ?? zeroQuantity)));
    whole = Math.min(whole, fits(limit));
  }
  const there = Math.min(kept?.get(candidate.name) ?? 0, whole);
  const shut = objection({ ...candidate, isThere: false, need: nothingUsed });
  const room = shut === undefined ? Math.max(there, free) : there;
  // More than it needs tells nothing.
  const enough = 10 * Math.max(1, pods);
  return {
    candidate,
    room: Math.max(0, Math.min(room, enough)),
    isBounded: room < enough,
    had: own,
    shut,
    isTight: candidate.isThere && (shut !== undefined || free < there),
  };
}

/** Of what its nodes do not offer it has none; undefined: nobody has said. */
function limitOf(cluster: PhysicalCluster | undefined, resource: string): Quantity | undefined {
  return limitsOf(cluster).get(resource) ?? (cluster?.status?.allocatable ? zeroQuantity : undefined);
}

/** Of all that its pods ask for, and of all that refuse it, for the record only. */
const mostResources = 5;
const mostRefused = 3;
/** What Kubernetes lets the name of a resource be: of a kind that a PlacedResource places nobody has checked it. */
const longestName = 253 + 1 + 63;

/**
 * Of so many pods for which there is no room; undefined: there are none, or it is not for want of room. `on`: see NoRoom.
 */
export function noRoomOf(
  pods: number,
  judged: Judged,
  situation: Situation,
  on?: string[],
): NoRoom | undefined {
  const { pods: of, need } = situation;
  const mayGo = judged.some(([candidate]) => objection({ ...candidate, need: nothingUsed }) === undefined);
  if (pods <= 0 || !mayGo || isRefusedAtHome(judged, situation)) return undefined;
  const isAsked = (name: string) => name !== 'pods' && name.length <= longestName;
  const asked = [...need(pods)].filter(([name, { value }]) => isAsked(name) && value > 0n);
  const refused = refusedOf(judged);
  const shown = asked
    .slice(0, mostResources)
    .map(([name, amount]) => [name, formatQuantity(amount)] as const);
  return {
    pods,
    of,
    ...(shown.length > 0 && { requests: Object.fromEntries(shown) }),
    ...(on && { on }),
    ...(refused.length > 0 && { refused }),
  };
}

/** Who takes nothing of it whatever room there is; those last whom a word of its owner's keeps out. */
function refusedOf(judged: Judged): string[] {
  const shut = judged.flatMap(([candidate]) => {
    const why = objection({ ...candidate, need: nothingUsed });
    return why === undefined ? [] : [{ candidate, why }];
  });
  shut.sort((a, b) => Number(a.candidate.refused !== undefined) - Number(b.candidate.refused !== undefined));
  return Object.keys(record(shut.map(({ candidate, why }) => [candidate.name, why] as const))).slice(
    0,
    mostRefused,
  );
}

/** Whether one that it is on takes nothing more, whatever room there is: more of that would be of no use to it. */
function isRefusedAtHome(judged: Judged, { kept }: Situation): boolean {
  return judged.some(([candidate]) => {
    const { name, cluster, isThere } = candidate;
    if (!cluster || !(isThere || kept?.has(name))) return false;
    // Who has it leave by a word of their own wants room elsewhere.
    const asNew = { ...candidate, refused: undefined, isThere: false, need: nothingUsed };
    return objection(asNew) !== undefined;
  });
}
