import type { PhysicalCluster } from './types.ts';

/** Its uid is a cluster's own wherever it is registered, and under what name. */
export const identifyingNamespace = 'kube-system';

/**
 * Why nothing may be placed on `cluster`, as a sentence: it is registered already, or it is one of this Atoll's own
 * logical clusters. Of two registrations the earlier counts.
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

function isEarlier({ metadata: a }: PhysicalCluster, { metadata: b }: PhysicalCluster): boolean {
  if (a.name === b.name) return false;
  const [one, other] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return one === other ? (a.name ?? '') < (b.name ?? '') : one < other;
}
