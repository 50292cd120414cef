import type { Copies } from '../cluster/copies.ts';
import type { ClusterSlice, Share } from '../cluster/types.ts';
import {
  type CopiesFound,
  claimsCopiedOf,
  claimsCopiedWhole,
  claimsOfOrdinal,
  endOfPatience,
  failureOf,
  type VolumeCopy,
} from '../cluster/volume-copy.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { type Plan, rangeOf, type Shares, type Slices } from './plan.ts';

/** What is known of copies when a step is decided. */
export interface Copying {
  /** As the Placement says: whose data comes along. */
  copies: Copies | undefined;
  /** VolumeCopies of this workload. */
  found: CopiesFound;
  /** Those of other workloads, of which one may have the name of a claim that is this one's now. */
  others?: CopiesFound;
  /** Nobody waits for this one of another workload, which has ended, or is gone. */
  isLeft?(copy: VolumeCopy): boolean;
  copierBetween(from: string, to: string): string | undefined;
}

/** A claim of what nobody runs now, which is where it was and belongs elsewhere. */
export interface Want {
  claim: string;
  from: string;
  to: string;
  trip: string;
  /** done: its cluster says so, too. failed: it will not be. ended: a copy of a former trip has yet to go. */
  state: 'missing' | 'copying' | 'done' | 'failed' | 'ended';
  copy?: VolumeCopy | undefined;
}

/** Why something stays where it is, though it belongs elsewhere. */
export type Failure = Pick<Want, 'claim' | 'from' | 'to'> & Blocking;

interface Blocking {
  why: string;
  /** What failed, until it is deleted. Absent: there is nobody to copy it, until there is. */
  copy?: VolumeCopy;
}

export interface Held {
  root: KubeObject;
  plan: Plan;
  slices: Slices;
  /** Milliseconds since 1970. */
  now: number;
  /** Absent: nothing is copied. */
  copying?: Copying | undefined;
}

const none: CopiesFound = new Map();
const foundIn = ({ copying }: Held): CopiesFound => copying?.found ?? none;
const wholeClaims = ({ root, copying }: Held) => claimsCopiedWhole(root, copying?.copies);

/** Whether what stops takes data along. */
export function takesData(held: Held): boolean {
  const { plan, copying } = held;
  if (plan.once !== true || !copying?.copies) return false;
  return plan.mode === 'ranges' || (plan.mode === 'counts' && wholeClaims(held).length > 0);
}

function claimsOf(held: Held, ordinal: number): string[] {
  return [...claimsCopiedOf(held.root, held.copying?.copies, ordinal), ...wholeClaims(held)];
}

function ordinalsOf(part: Pick<Share, 'replicas' | 'ordinalsStart'>, { first }: Plan): number[] {
  const { start, end } = rangeOf(part, first);
  return Array.from({ length: Math.max(0, end - start) }, (_, i) => start + i);
}

/** Those that it holds and is not told to run. */
function ordinalsHeld(share: Share, plan: Plan): number[] {
  if (!share.held) return [];
  const told = new Set(ordinalsOf(share, plan));
  return ordinalsOf(share.held, plan).filter((ordinal) => !told.has(ordinal));
}

/** Where this ordinal belongs. */
function takerOf({ goal, first }: Plan, ordinal: number): string | undefined {
  const isIn = (part: Parameters<typeof rangeOf>[0]) => {
    const { start, end } = rangeOf(part, first);
    return start <= ordinal && ordinal < end;
  };
  return [...goal].find(([, part]) => isIn(part))?.[0];
}

/** Where all of it belongs that has no ordinals: one cluster alone, and another one. */
export function soleTaker({ goal }: Plan, from: string): string | undefined {
  const [to, ...others] = goal.keys();
  return others.length === 0 && to !== from ? to : undefined;
}

/** What a share that holds something waits for; nothing of what is told to run elsewhere already. */
export function wantsOf(held: Held, shares: Shares, cluster: string): Want[] {
  const share = getOwn(shares, cluster);
  if (!share?.held || share.phase === 'Leaving' || !takesData(held)) return [];
  const { plan } = held;
  const trip = share.held.since;
  if (plan.mode === 'counts') {
    const to = soleTaker(plan, cluster);
    if (to === undefined || (getOwn(shares, to)?.replicas ?? 0) > 0) return [];
    const all = wholeClaims(held).map((claim) => wanted(held, { claim, from: cluster, to, trip }));
    return plan.total === 0 && all.every(isDone) ? [] : all;
  }
  const others = Object.entries(shares).filter(([other]) => other !== cluster);
  const taken = new Set(others.flatMap(([, one]) => ordinalsOf(one, plan)));
  return ordinalsHeld(share, plan).flatMap((ordinal) => {
    const to = takerOf(plan, ordinal);
    if (to === undefined || to === cluster || taken.has(ordinal)) return [];
    return claimsOf(held, ordinal).map((claim) => wanted(held, { claim, from: cluster, to, trip }));
  });
}

const isDone = ({ state }: Want) => state === 'done';

function wanted(held: Held, of: Pick<Want, 'claim' | 'from' | 'to' | 'trip'>): Want {
  const copy = foundIn(held).get(of.claim);
  const other = copy ? undefined : held.copying?.others?.get(of.claim);
  if (other) return { ...of, state: 'ended', copy: other };
  if (!copy) {
    const isCopied = held.copying?.copierBetween(of.from, of.to) !== undefined;
    return { ...of, state: isCopied ? 'missing' : 'failed' };
  }
  const { spec, status, metadata } = copy;
  const isThis = spec?.from === of.from && spec.to === of.to && spec.trip === of.trip;
  if (!isThis || metadata.deletionTimestamp !== undefined) return { ...of, state: 'ended', copy };
  if (status?.phase === 'Copied' && isThere(held, copy)) return { ...of, state: 'done', copy };
  return { ...of, state: whyFailed(held, copy) === undefined ? 'copying' : 'failed', copy };
}

function isThere({ slices }: Held, { spec }: VolumeCopy): boolean {
  const slice: ClusterSlice | undefined = getOwn(slices, spec?.to ?? '');
  return spec !== undefined && slice?.claims?.includes(spec.claim) === true;
}

function whyFailed(held: Held, copy: VolumeCopy): string | undefined {
  if (copy.status?.phase !== 'Copied') return failureOf(copy, held.now);
  const isLate = held.now >= endOfPatience(copy, held.now);
  const where = copy.spec?.to ?? '';
  return isLate && !isThere(held, copy)
    ? `it is said to be copied, and there is no such claim on ${where}`
    : undefined;
}

/** Whether this ordinal, or all where there are none, may start on `to`: of what was stopped on `from` all is there. */
export function isCopiedTo(held: Held, from: string, share: Share, to: string, ordinal?: number): boolean {
  if (!share.held || share.phase === 'Leaving' || !takesData(held)) return false;
  const trip = share.held.since;
  const claims = ordinal === undefined ? wholeClaims(held) : claimsOf(held, ordinal);
  return claims.length > 0 && claims.every((claim) => isDone(wanted(held, { claim, from, to, trip })));
}

/** Of what has nothing to run: all that it has was copied there already. */
export function hasCopied(held: Held, from: string, to: string): boolean {
  return wholeClaims(held).every((claim) => {
    const { spec, status, metadata } = foundIn(held).get(claim) ?? {};
    const isThis = spec?.from === from && spec.to === to && metadata?.deletionTimestamp === undefined;
    return isThis && status?.phase === 'Copied';
  });
}

/** Whether it is to run again where it was: some of what it holds will not be copied. */
export function comesBack(held: Held, shares: Shares, cluster: string): boolean {
  return wantsOf(held, shares, cluster).some(({ state }) => state === 'failed');
}

/** A claim of what it holds may still be written to, by a copier who was asked for another trip. */
export function isWrittenTo(held: Held, share: Share): boolean {
  const claims =
    held.plan.mode === 'ranges'
      ? ordinalsHeld(share, held.plan).flatMap((ordinal) => claimsOfOrdinal(held.root, ordinal))
      : [...foundIn(held).keys()];
  return claims.some((claim) => isUnfinished(foundIn(held).get(claim)));
}

/**
 * A copier may still write there, to a claim of this ordinal or, where there are none, to any. Also when nobody holds it any more: where
 * it came from may be forgotten.
 */
export function isWrittenThere(held: Held, to: string, ordinal?: number): boolean {
  const claims = ordinal === undefined ? [...foundIn(held).keys()] : claimsOfOrdinal(held.root, ordinal);
  return claims.some((claim) => {
    const copy = foundIn(held).get(claim);
    return copy?.spec?.to === to && isUnfinished(copy);
  });
}

function isUnfinished(copy: VolumeCopy | undefined): boolean {
  return copy !== undefined && copy.status?.phase !== 'Copied';
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
    const blocking = whyStays(held, { claim, from, to });
    if (blocking) note({ claim, from, to, ...blocking });
  };
  for (const [from, share] of Object.entries(shares)) {
    if (share.phase === 'Leaving' || share.held) continue;
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

function whyStays(held: Held, { claim, from, to }: Omit<Failure, keyof Blocking>): Blocking | undefined {
  const copy = foundIn(held).get(claim);
  const isThis = copy?.spec?.from === from && copy.spec.to === to;
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
    const { spec } = copy;
    const isBlocking = failures.some(
      ({ claim, from, to }) => spec?.claim === claim && spec.from === from && spec.to === to,
    );
    return isBlocking || isHistory(held, shares, copy);
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

/** The shares, with what their clusters are asked: whether the claims that are copied to them are there. */
export function withClaimsAsked(shares: Shares, { wants, failures }: CopyStep): Shares {
  const asked = new Map<string, Set<string>>();
  for (const { to, claim } of [...wants, ...failures]) asked.set(to, (asked.get(to) ?? new Set()).add(claim));
  return Object.fromEntries(
    Object.entries(shares).map(([cluster, { claims: _before, ...share }]): [string, Share] => {
      const claims = [...(asked.get(cluster) ?? [])].sort();
      return [cluster, claims.length > 0 ? { ...share, claims } : share];
    }),
  );
}
