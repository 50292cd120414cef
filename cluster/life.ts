import { placedKind } from './kinds.ts';
import type { Condition, PhysicalCluster, PlacementSpec } from './types.ts';

/** On a PhysicalCluster until nothing of ours is there, or it was given up: nobody forgets it before. */
export const clusterFinalizer = 'atoll.dev/workloads';

/** It is being deleted, and nothing that is there is to hold it: neither data nor that nothing else fits. */
export function isForgotten({ metadata, spec }: PhysicalCluster): boolean {
  return metadata.deletionTimestamp !== undefined && spec?.forget === true;
}

/** What can be elsewhere is to leave it. */
export function isDrained(cluster: PhysicalCluster | undefined): boolean {
  return cluster?.spec?.drain === true || cluster?.metadata.deletionTimestamp !== undefined;
}

/** What has ended stays there with its pods, and what these have logged, whoever asks for it elsewhere. */
export function keepsEnded(cluster: PhysicalCluster | undefined): boolean {
  return cluster !== undefined && !isDrained(cluster);
}

/** Why it is Ready, where somebody has yet to mend its kubeconfig. */
export const formerKubeconfig = 'FormerKubeconfig';

/** Undefined until its syncer has reported. */
export function readyOf(cluster: PhysicalCluster): Condition | undefined {
  return conditionOf(cluster, 'Ready');
}

export function conditionOf({ status }: PhysicalCluster, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isReady(cluster: PhysicalCluster): boolean {
  return readyOf(cluster)?.status === 'True';
}

/** It is forgotten and does not answer: nothing more is done there. */
export function isGivenUp(cluster: PhysicalCluster): boolean {
  return isForgotten(cluster) && !isReady(cluster);
}

/**
 * Whether a cluster still counts for this record. One that is forgotten does while it answers, so that what can go
 * elsewhere goes make before break, and is removed there; what has no other place is left behind, and so is a claim,
 * whose removal would take its data along.
 */
export function counts(cluster: PhysicalCluster | undefined, { ref, clusters }: PlacementSpec): boolean {
  if (!cluster || isGivenUp(cluster)) return false;
  if (!isForgotten(cluster)) return true;
  const hasOther = clusters.length > 0 || placedKind(ref)?.role === 'closure';
  return hasOther && ref.resource !== 'persistentvolumeclaims';
}
