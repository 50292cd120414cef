import { isChanged, isRefused } from '../cluster/refusal.ts';
import type { Silence } from '../cluster/silence.ts';
import type { ClusterSlice, Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, numberAt } from '../kube/untyped.ts';
import type { Slices } from './plan.ts';
import type { Standing } from './turns.ts';

interface Heard {
  slices?: Slices;
  silenceOf?: ((cluster: string) => Silence | undefined) | undefined;
}

export function sliceAt({ slices = {} }: Heard, cluster: string): ClusterSlice | undefined {
  return Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
}

/** It is being made for the first time, or was to wait and has no pods: paused, it would never have any. */
export function isNew(share: Share, slice: ClusterSlice | undefined): boolean {
  if (!share.paused) return share.phase === 'Joining' && !share.settled;
  return slice?.present !== true || (numberAt(slice.status, 'replicas') ?? 0) === 0;
}

/** How far the update of a cluster's part is, by its own words. */
export function standingOf(root: KubeObject, cluster: string, share: Share, heard: Heard): Standing {
  const slice = sliceAt(heard, cluster);
  const said = (field: string) => numberAt(slice?.status, field) ?? 0;
  const { replicas = 0, paused = false } = share;
  const isKnown =
    slice?.present === true && (slice.observedGeneration ?? 0) >= (root.metadata.generation ?? 0);
  // What a Deployment's ReplicaSets have been told to make, and have not made yet, is in its unavailableReplicas alone.
  const asked = Math.max(said('replicas'), said('availableReplicas') + said('unavailableReplicas'));
  // Where its cluster's own admission says how many there are to be, all that there are count; none may be one that has yet to come.
  const count = isChanged(slice) ? Math.max(1, asked) : replicas;
  const isWhole = asked <= count && said('availableReplicas') >= count;
  const isUpdated = said('updatedReplicas') >= count - keptBack(root, share) && !lacksOne(root, slice);
  const isBehind = isKnown && !isUpdated;
  const isStarting = slice === undefined && share.phase === 'Joining' && !share.settled;
  const saysToWait = slice?.share?.paused === true;
  const hasStopped = paused && saysToWait;
  const refused = isRefused(slice);
  // Who surges has one too many as it is half way; a pod that has failed is no beginning.
  const surges = Number(share.maxSurge ?? 0) > 0;
  return {
    cluster,
    hasTurn: !paused && !isStarting,
    waits: isStarting || hasStopped,
    // Also of a template that is no longer the present one.
    isHalfWay: hasStopped && !refused && (asked > count || (!isWhole && !isUpdated && !surges)),
    isSilent: heard.silenceOf?.(cluster) !== undefined,
    isDone: isKnown && isWhole && isUpdated && !refused,
    // Not what it said before it was told that it may go on.
    isRefusing: !paused && refused && !saysToWait,
    isUnheard: !paused && saysToWait,
    isBehind,
  };
}

/** A set that updates without a pod for the moment: by its counters alone, of what it has all is updated. */
function lacksOne({ kind, spec }: KubeObject, slice: ClusterSlice | undefined): boolean {
  if (kind !== 'StatefulSet' || !isChanged(slice)) return false;
  if ((numberAt(spec, 'updateStrategy', 'rollingUpdate', 'partition') ?? 0) > 0) return false;
  return at(slice?.status, 'currentRevision') !== at(slice?.status, 'updateRevision');
}

/** Of a StatefulSet, as many of a part as are below the partition. */
function keptBack(root: KubeObject, { replicas = 0, ordinalsStart }: Share): number {
  if (root.kind !== 'StatefulSet') return 0;
  const first = numberAt(root, 'spec', 'ordinals', 'start') ?? 0;
  const partition = numberAt(root, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0;
  return Math.max(0, Math.min(replicas, partition - ((ordinalsStart ?? first) - first)));
}
