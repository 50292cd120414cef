import { kindNamed } from '../cluster/kinds.ts';
import type { Scale, Share } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/untyped.ts';
import type { Scaler } from './autoscaler.ts';
import { divide, divideRanges, sizeOf } from './divide.ts';
import { heardMeanwhile, lowered, loweredTo, type ToldAt } from './lower.ts';
import { type Part, rangeOf, type Scaling, type Shares, type Slices } from './plan.ts';

export interface FollowInput {
  root: KubeObject;
  /** What scales `root`; undefined: nobody. */
  scaler: Scaler | undefined;
  /** Where it should be. */
  clusters: readonly string[];
  previous: Shares;
  slices: Slices;
  scale: Scale | undefined;
  /** Of what scales `root`. */
  toldAt?: ToldAt | undefined;
}

export interface Followed {
  /** The shares with the replicas that are there. */
  there: Shares;
  /** The same, with what somebody has asked for since. */
  shares: Shares;
  scaling?: Scaling;
}

/**
 * The autoscalers of the clusters say how many there are; the root's own number counts when there is nothing yet,
 * and when somebody has written another one than ours since: as on one cluster, that is then where they go on.
 * A share that joins has what it was given until it is counted on. During a hand-over the total follows those that
 * are counted on by what they change, since some of it is there twice; that of ordinals stays as it began.
 */
export function follow(input: FollowInput): Followed {
  const { scaler, previous, scale, root } = input;
  if (!scaler) {
    const plain = mapShares(previous, (_, share) => (share.phase === 'Leaving' ? share : unscaled(share)));
    return { there: plain, shares: plain };
  }
  if (scale && isOnItsWay(root, scale)) return underWay(input, scale);
  const there = mapShares(previous, (c, share) => counted(input, scaler, c, share));
  // What waits for its autoscaler's minimum is as if it had been lowered.
  const [now, before] = [lowered(there), lowered(previous)];
  const staying = Object.entries(now).filter(([, share]) => share.phase !== 'Leaving');
  const wanted = input.clusters.length > 0 ? [...input.clusters] : staying.map(([c]) => c).sort();
  const divided = scale !== undefined && deepEqual(scale.clusters, wanted);
  const asked = wish(root, scale);
  if (scale === undefined)
    return { there, shares: now, scaling: { total: clamp(asked ?? 1, scaler), divided } };
  if (asked !== undefined) {
    const shares = divided ? resized(root, now, wanted, asked) : now;
    return { there, shares, scaling: { total: asked, divided } };
  }
  const of = (shares: Shares, c: string) => shares[c]?.replicas ?? 0;
  const sum = staying.reduce((all, [c]) => all + of(now, c), 0);
  const change = staying.reduce((all, [c]) => all + of(now, c) - of(before, c), 0);
  const total = divided ? sum : Math.max(0, scale.replicas + change);
  return { there, shares: now, scaling: { total, divided } };
}

function isOnItsWay({ kind }: KubeObject, { clusters }: Scale): boolean {
  return kindNamed(kind)?.spread === 'ranges' && clusters.length === 0;
}

/**
 * Of ordinals: what an autoscaler made of them before it was told to leave them is undone, heard of or not: all are set once they do
 * nothing any more.
 */
function underWay({ root, previous, toldAt }: FollowInput, scale: Scale): Followed {
  const told = Object.entries(previous).flatMap(([c, { phase }]) =>
    phase === 'Leaving' ? [] : [toldAt?.(c)],
  );
  const stills = told.every((one) => one === undefined || one.suspend === true);
  const [still, total] = [scale.still === true, wish(root, scale) ?? scale.replicas];
  const isSet = !stills || still;
  const there = isSet ? previous : mapShares(previous, (_, { replicas: _unknown, ...share }) => share);
  return { there, shares: previous, scaling: { total, divided: false, still, stills } };
}

interface Decided {
  shares: Shares;
  clusters: readonly string[];
  before: Scale | undefined;
  /** See Handover. */
  waitingFor: readonly string[];
}

/** The record for shares that were decided on the strength of `followed`, `of.generation` apart. */
export function scaleOf(
  { scaling }: Followed,
  { shares, clusters, before, waitingFor }: Decided,
): Omit<Scale, 'generation'> | undefined {
  if (!scaling) return undefined;
  const staying = Object.entries(shares).filter(([, share]) => share.phase !== 'Leaving');
  const names = staying.map(([c]) => c).sort();
  const wanted = clusters.length > 0 ? [...clusters] : names;
  const sum = staying.reduce((all, [, share]) => all + (share.replicas ?? 0), 0);
  // What may not run twice adds up to the whole before any of it is where it is to be.
  const isDone =
    sum === scaling.total &&
    names.length > 0 &&
    waitingFor.length === 0 &&
    staying.every(([, share]) => share.phase === 'Active' && loweredTo(share) === undefined) &&
    deepEqual(names, wanted);
  // Once it is to be elsewhere, some of it is there twice, and is until all is done, though it be wanted back: no sum counts then.
  const isStill = deepEqual(before?.clusters, wanted);
  const under = !isDone && !isStill && scaling.stills === true;
  return {
    replicas: scaling.total,
    clusters: isDone || isStill ? wanted : [],
    ...(under && { still: true }),
  };
}

/** Where other numbers were decided than what is there, the syncer is to set them, once. */
export function stamped({ there, scaling }: Followed, shares: Shares): Shares {
  if (!scaling) return shares;
  return mapShares(shares, (c, share) => {
    if (share.phase === 'Leaving') return share;
    const found = there[c];
    const same = found?.replicas === share.replicas && found?.ordinalsStart === share.ordinalsStart;
    const times = found?.scaled ?? 0;
    return { ...share, scaled: same && times > 0 ? times : times + 1 };
  });
}

/** What somebody wants in all; undefined: the number is ours, or it could not be written. */
function wish(root: KubeObject, scale: Scale | undefined): number | undefined {
  const written = replicasOf(root);
  if (!scale) return written;
  const isNewer = (root.metadata.generation ?? 0) > scale.generation;
  return isNewer && written !== scale.replicas ? written : undefined;
}

export function replicasOf(root: KubeObject): number {
  return Math.max(0, Math.trunc(numberAt(root, 'spec', 'replicas') ?? 1));
}

/** None stays none: that switches an autoscaler off. */
function clamp(replicas: number, { min, max }: Scaler): number {
  return replicas === 0 ? 0 : Math.max(min, Math.min(max, replicas));
}

/** A cluster's word about its autoscaler's number stands for what was set last, and within the user's maximum. */
function counted({ slices }: FollowInput, { max }: Scaler, cluster: string, share: Share): Share {
  const said = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
  const replicas = said?.present === true ? said.share?.replicas : undefined;
  if (share.phase !== 'Active' || share.scaled === undefined || replicas === undefined) return share;
  if (said?.share?.scaled !== share.scaled) return share;
  return heardMeanwhile(share, Math.min(replicas, Math.max(max, share.replicas ?? 0)));
}

/** In proportion to what is there, at once and everywhere, as one cluster would. */
function resized(root: KubeObject, there: Shares, clusters: readonly string[], total: number): Shares {
  const parts = partsOf(root, there, clusters, total);
  return mapShares(there, (c, share) => {
    const part = share.phase === 'Leaving' ? undefined : parts.get(c);
    return part ? { ...share, ...part } : share;
  });
}

function partsOf(
  root: KubeObject,
  there: Shares,
  clusters: readonly string[],
  total: number,
): ReadonlyMap<string, Part> {
  const present = clusters.flatMap((c) => (there[c] ? [[c, there[c]] as const] : []));
  if (kindNamed(root.kind)?.spread === 'ranges') {
    const first = Math.max(0, Math.trunc(numberAt(root, 'spec', 'ordinals', 'start') ?? 0));
    const current = new Map(present.map(([c, share]) => [c, rangeOf(share, first)]));
    const ranges = divideRanges({ start: first, end: first + total }, clusters, current);
    return new Map([...ranges].map(([c, r]) => [c, { replicas: sizeOf(r), ordinalsStart: r.start }]));
  }
  const current = new Map(present.map(([c, share]) => [c, share.replicas ?? 0]));
  const none = [...current.values()].every((n) => n === 0);
  const parts = divide(total, clusters, current, none ? new Map() : current);
  return new Map([...parts].map(([c, replicas]) => [c, { replicas }]));
}

function unscaled({ scaled: _scaled, ...share }: Share): Share {
  return share;
}

function mapShares(shares: Shares, make: (cluster: string, share: Share) => Share): Shares {
  return Object.fromEntries(Object.entries(shares).map(([c, share]) => [c, make(c, share)]));
}
