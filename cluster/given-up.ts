import { getOwn, numberAt } from '../kube/untyped.ts';
import type { Placement } from './types.ts';
import { isInPlace } from './volumes.ts';

/** What is to become of the claims that a StatefulSet left on a cluster: see PlacementSpec.givenUp. */
export type Left = 'kept' | 'awaited' | 'removed';

/**
 * Asked when something would be removed, and answered by what was heard since the set has settled: each of its targets has all
 * that it is to have, and has said so after that. `heardAt`: see cluster/heard.ts.
 */
export function leftOn(
  cluster: string,
  placement: Placement,
  { uid, heardAt }: { uid: string; heardAt(cluster: string): number | undefined },
): Left {
  const { spec, status, metadata } = placement;
  const isMeant = spec?.ref.uid === uid && metadata.deletionTimestamp === undefined;
  if (!isMeant || getOwn(spec.givenUp ?? {}, cluster) === undefined || spec.clusters.includes(cluster))
    return 'kept';
  const settled = status?.conditions?.find(({ type }) => type === 'Settled');
  if (settled?.status !== 'True' || !isInPlace(spec)) return 'awaited';
  const since = Date.parse(settled.lastTransitionTime);
  const isSure = spec.clusters.every((target) => {
    const slice = getOwn(status?.clusters ?? {}, target);
    const replicas = getOwn(spec.shares ?? {}, target)?.replicas ?? 0;
    if (slice?.present !== true || slice.error || (heardAt(target) ?? 0) <= since) return false;
    return (numberAt(slice.status, 'availableReplicas') ?? 0) >= replicas;
  });
  return isSure ? 'removed' : 'awaited';
}
