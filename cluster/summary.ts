import { listWithMore } from '../kube/table/format.ts';
import { numberAt } from '../kube/untyped.ts';
import { endedReason } from './condition.ts';
import { placedKind } from './kinds.ts';
import { slicesOf } from './ruled.ts';
import type { Placement, Share } from './types.ts';

/** What has ended, and is nowhere any more, is to be nowhere, whatever clusters could have had it. */
export function hasEnded(placement: Placement): boolean {
  return endedIn(placement) !== undefined;
}

function endedIn({ status }: Placement) {
  return status?.conditions?.find(({ reason }) => reason === endedReason);
}

/** `east=3/3 west=1/2`: by cluster, what is ready of what it should have; the name alone of what has no count, or is left of a former object. */
export function sharesOf(placement: Placement): string {
  const { spec } = placement;
  const { shares = {}, clusters = [] } = spec ?? {};
  const to = hasEnded(placement) ? [] : clusters;
  const names = [...new Set([...to, ...Object.keys(shares)])].sort();
  if (names.length === 0) return '<none>';
  const isWorkload = spec !== undefined && placedKind(spec.ref)?.role === 'workload';
  const slices = slicesOf(placement);
  return names
    .map((name) => {
      const isCounted = isWorkload && !shares[name]?.former;
      const count = isCounted ? countOf(shares[name], slices[name]?.status) : undefined;
      return count === undefined ? name : `${name}=${count}`;
    })
    .join(' ');
}

/** A cell stays one that is read, on however many clusters it is. */
const shownClusters = 10;

/**
 * `east`; of what several clusters have parts of, how much each has: `east=3,west=2`. All that have a share, so while it
 * moves they add up to more than the whole, but for what is left of a former object of that name. `<none>`: no cluster has one.
 */
export function clustersCell({ spec }: Placement): string {
  const all = Object.entries(spec?.shares ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const shares = all.filter(([, { former }]) => !former);
  const part = ({ replicas, completions }: Share) => completions ?? replicas;
  const cells = shares.map(([name, share]) => {
    const isPart = shares.length > 1 && part(share) !== undefined;
    return isPart ? `${name}=${part(share)}` : name;
  });
  return listWithMore(cells, shownClusters, '<none>');
}

/** `1/3`: what is ready (of a Job: done) of what a share is to have; undefined of what has no count. */
export function countOf(
  share: Share | undefined,
  there: Record<string, unknown> | undefined,
): string | undefined {
  if (share?.completions !== undefined) return `${numberAt(there, 'succeeded') ?? 0}/${share.completions}`;
  // Some custom resources say only how many are available.
  const ready = numberAt(there, 'readyReplicas') ?? numberAt(there, 'availableReplicas') ?? 0;
  if (share?.replicas !== undefined) return `${ready}/${share.replicas}`;
  const everywhere = numberAt(there, 'desiredNumberScheduled');
  return everywhere === undefined ? undefined : `${numberAt(there, 'numberReady') ?? 0}/${everywhere}`;
}

/** In a word how it is: Settled, or the reason of the first condition that is not so; Blocked where all is at rest, and not where it ought to be. */
export function stateOf(placement: Placement): string {
  const atRest = placement.spec?.blocked === true ? 'Blocked' : 'Settled';
  return notSo(placement)?.reason ?? (isSettled(placement) ? atRest : 'Waiting');
}

/** So few that a line stays one that is read. */
const mostReasons = 3;

/** In a sentence why: what is refused or waited for; else why it is where it is. */
export function whyOf(placement: Placement): string {
  const told = notSo(placement) ?? endedIn(placement);
  if (told) return told.message;
  const { clusters = [], reasons = {}, blocked } = placement.spec ?? {};
  const said = clusters.flatMap((name) => (Object.hasOwn(reasons, name) ? [reasons[name] ?? ''] : []));
  const others = Object.entries(reasons).filter(([name]) => blocked === true && !clusters.includes(name));
  const refused = others.map(([name, why]) => `${name}: ${why}`).slice(0, mostReasons);
  return [...new Set(said), ...refused].join('; ');
}

function notSo({ status }: Placement) {
  return status?.conditions?.find((condition) => condition.status === 'False');
}

function isSettled({ status }: Placement): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Settled' && is === 'True') === true;
}
