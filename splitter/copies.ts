import { isClaimName } from '../cluster/claims.ts';
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
export const foundIn = ({ copying }: Held): CopiesFound => copying?.found ?? none;
export const wholeClaims = ({ root, copying }: Held) => claimsCopiedWhole(root, copying?.copies);

/** Whether what stops takes data along. */
export function takesData(held: Held): boolean {
  const { plan, copying } = held;
  if (plan.once !== true || !copying?.copies) return false;
  return plan.mode === 'ranges' || (plan.mode === 'counts' && wholeClaims(held).length > 0);
}

export function claimsOf(held: Held, ordinal: number): string[] {
  return [...madeFor(held, ordinal), ...wholeClaims(held)];
}

function madeFor({ root, copying }: Held, ordinal: number): string[] {
  return claimsCopiedOf(root, copying?.copies, ordinal);
}

export function ordinalsOf(part: Pick<Share, 'replicas' | 'ordinalsStart'>, { first }: Plan): number[] {
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
export function takerOf({ goal, first }: Plan, ordinal: number): string | undefined {
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
  const isStopped = (share.replicas ?? 0) === 0;
  if (plan.mode === 'counts') {
    const to = soleTaker(plan, cluster);
    if (!isStopped || to === undefined || (getOwn(shares, to)?.replicas ?? 0) > 0) return [];
    const all = wholeClaims(held).map((claim) => wanted(held, { claim, from: cluster, to, trip }));
    return plan.total === 0 && all.every(isDone) ? [] : all;
  }
  const others = Object.entries(shares).filter(([other]) => other !== cluster);
  const taken = new Set(others.flatMap(([, one]) => ordinalsOf(one, plan)));
  const wants = new Map<string, Want>();
  for (const ordinal of ordinalsHeld(share, plan)) {
    const to = takerOf(plan, ordinal);
    if (to === undefined || to === cluster || taken.has(ordinal)) continue;
    // What all of them use nobody reads while one of them may write to it.
    const claims = isStopped ? claimsOf(held, ordinal) : madeFor(held, ordinal);
    for (const claim of claims) wants.set(claim, wanted(held, { claim, from: cluster, to, trip }));
  }
  return [...wants.values()];
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

export function whyFailed(held: Held, copy: VolumeCopy): string | undefined {
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
  const ordinals = held.plan.mode === 'ranges' ? ordinalsHeld(share, held.plan) : [undefined];
  return ordinals.some((ordinal) => copiesFor(held, ordinal).some(isUnfinished));
}

/**
 * A copier may still write there, to a claim of this ordinal or, where there are none, to any. Also when nobody holds it any more: where
 * it came from may be forgotten.
 */
export function isWrittenThere(held: Held, to: string, ordinal?: number): boolean {
  return copiesFor(held, ordinal).some((copy) => copy.spec?.to === to && isUnfinished(copy));
}

/** Of the claims that this ordinal uses; without one, of all. */
function copiesFor(held: Held, ordinal: number | undefined): VolumeCopy[] {
  const own = ordinal === undefined ? [] : claimsOfOrdinal(held.root, ordinal);
  const isUsed = (claim: string) =>
    ordinal === undefined || own.includes(claim) || !isClaimName(held.root, claim);
  return [...foundIn(held)].flatMap(([claim, copy]) => (isUsed(claim) ? [copy] : []));
}

function isUnfinished(copy: VolumeCopy): boolean {
  return copy.status?.phase !== 'Copied';
}
