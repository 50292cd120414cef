import type { Share } from '../cluster/types.ts';
import { claimsOfOrdinal, endOfPatience, type VolumeCopy } from '../cluster/volume-copy.ts';
import { getOwn } from '../kube/untyped.ts';
import {
  claimsOf,
  foundIn,
  type Held,
  ordinalsOf,
  soleTaker,
  takerOf,
  takesData,
  type Want,
  wantsOf,
  wholeClaims,
  whyFailed,
} from './copies.ts';
import type { Shares } from './plan.ts';

/** Why something stays where it is, though it belongs elsewhere. */
export type Failure = Pick<Want, 'claim' | 'from' | 'to'> & Blocking;

interface Blocking {
  why: string;
  /** What failed, until it is deleted. Absent: there is nobody to copy it, until there is. */
  copy?: VolumeCopy;
}

/**
 * Why what runs where it was stays there: its copy failed, until that is deleted or it belongs elsewhere; or there is nobody to copy
 * it. The first of each two clusters.
 */
export function failuresOf(held: Held, shares: Shares): Failure[] {
  if (!takesData(held)) return [];
  const failures = new Map<string, Failure>();
  const { plan } = held;
  const note = (failure: Failure) => {
    const key = `${failure.from}/${failure.to}`;
    if (!failures.has(key)) failures.set(key, failure);
  };
  const look = (claim: string, from: string, to: string | undefined) => {
    if (to === undefined || to === from) return;
    const blocking = whyStays(held, { claim, from, to }, getOwn(shares, from)?.cameBack);
    if (blocking) note({ claim, from, to, ...blocking });
  };
  for (const [from, share] of Object.entries(shares)) {
    if (share.phase === 'Leaving') continue;
    if (plan.mode === 'counts') {
      if ((share.replicas ?? 0) > 0)
        for (const claim of wholeClaims(held)) look(claim, from, soleTaker(plan, from));
      continue;
    }
    for (const ordinal of ordinalsOf(share, plan).reverse())
      for (const claim of claimsOf(held, ordinal)) look(claim, from, takerOf(plan, ordinal));
  }
  return [...failures.values()];
}

/** `trip`: after which it runs there again. What was said of any other one, and left by whoever was killed, says nothing of this. */
function whyStays(
  held: Held,
  { claim, from, to }: Omit<Failure, keyof Blocking>,
  trip: string | undefined,
): Blocking | undefined {
  const copy = foundIn(held).get(claim);
  const isThis = copy?.spec?.from === from && copy.spec.to === to && copy.spec.trip === trip;
  if (copy && isThis && copy.metadata.deletionTimestamp === undefined) {
    const why = whyFailed(held, copy);
    if (why !== undefined) return { why, copy };
  }
  return held.copying?.copierBetween(from, to) === undefined
    ? { why: 'no copier is between the two (spec.copier of the PhysicalClusters)' }
    : undefined;
}

export interface CopyStep {
  wants: Want[];
  failures: Failure[];
  /** Copies that nobody waits for any more. */
  remove: VolumeCopy[];
  /** When somebody's patience ends. */
  requeueAfterMs?: number;
}

export const nothingCopied: CopyStep = { wants: [], failures: [], remove: [] };

/** What is to be asked of copiers, once `shares` are written. `isReleased`: the pods of what it holds are heard to be gone. */
export function copyStep(
  held: Held,
  shares: Shares,
  isReleased: (cluster: string, share: Share) => boolean,
): CopyStep {
  if (!held.copying) return nothingCopied;
  const wants = Object.entries(shares).flatMap(([cluster, share]) =>
    isReleased(cluster, share) ? wantsOf(held, shares, cluster) : [],
  );
  const failures = failuresOf(held, shares);
  const isNeeded = (copy: VolumeCopy) => {
    const want = wants.find((one) => one.copy === copy);
    // One of another trip makes room for what is waited for.
    if (want) return want.state !== 'ended';
    return failures.some((failure) => failure.copy === copy) || isHistory(held, shares, copy);
  };
  const { found, isLeft = () => false } = held.copying;
  const left = wants.flatMap(({ claim, copy }) => (copy && !found.has(claim) && isLeft(copy) ? [copy] : []));
  const remove = [...[...found.values()].filter((copy) => !isNeeded(copy)), ...left].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const ends = wants.flatMap(({ state, copy }) =>
    state === 'copying' && copy ? [endOfPatience(copy, held.now) - held.now] : [],
  );
  return {
    wants,
    failures,
    remove,
    ...(ends.length > 0 && { requeueAfterMs: Math.max(0, Math.min(...ends)) }),
  };
}

/** It was copied, and what it was copied from does not run: it says so to whoever decides whether that may go. */
function isHistory({ root, plan }: Held, shares: Shares, { spec, status }: VolumeCopy): boolean {
  if (!spec || status?.phase !== 'Copied' || !Object.hasOwn(shares, spec.to)) return false;
  const source = getOwn(shares, spec.from);
  if (!source || source.phase === 'Leaving') return true;
  if (plan.mode !== 'ranges') return (source.replicas ?? 0) === 0;
  const isTold = ordinalsOf(source, plan).some((ordinal) =>
    claimsOfOrdinal(root, ordinal).includes(spec.claim),
  );
  return !isTold;
}

/**
 * The shares, with what their clusters are asked: whether the claims that are copied to them are there. Of those that came back for a copy
 * that failed, with which that was, for as long as it keeps them there.
 */
export function withClaimsAsked(shares: Shares, { wants, failures }: CopyStep): Shares {
  const asked = new Map<string, Set<string>>();
  for (const { to, claim } of [...wants, ...failures]) asked.set(to, (asked.get(to) ?? new Set()).add(claim));
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, { claims: _before, cameBack, ...share }]): [string, Share] => {
      const claims = [...(asked.get(cluster) ?? [])].sort();
      const isKept = failures.some(({ from, copy }) => from === cluster && copy);
      return [
        cluster,
        { ...share, ...(claims.length > 0 && { claims }), ...(isKept && cameBack && { cameBack }) },
      ];
    }),
  );
}
