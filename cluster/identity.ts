import { isReady } from './life.ts';
import type { PhysicalCluster } from './types.ts';

/** Its uid is a cluster's own wherever it is registered, and under what name. */
export const identifyingNamespace = 'kube-system';

/**
 * Why nothing may be placed on `cluster`, as a sentence: it is registered already, or it is one of this Atoll's own
 * logical clusters. Of two registrations the earlier counts; of two in one second the one that is Ready.
 */
export function whyNotTaken(
  cluster: PhysicalCluster,
  all: Iterable<PhysicalCluster>,
  isOwn: (uid: string) => boolean,
): string | undefined {
  const uid = cluster.status?.clusterUID;
  if (!uid) return undefined;
  if (isOwn(uid)) return 'it is this Atoll itself';
  for (const other of all) {
    if (other.status?.clusterUID === uid && isEarlier(other, cluster)) return sameAs(other);
  }
  return undefined;
}

export function sameAs({ metadata }: PhysicalCluster): string {
  return `it is the cluster that is registered as ${metadata.name}`;
}

function isEarlier(one: PhysicalCluster, other: PhysicalCluster): boolean {
  const [a, b] = [one.metadata, other.metadata];
  if (a.name === b.name) return false;
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (first !== second) return first < second;
  return isReady(one) === isReady(other) ? (a.name ?? '') < (b.name ?? '') : isReady(one);
}
