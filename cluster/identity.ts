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

/**
 * Why what answers as this cluster, whose identity is `uid`, is another one, as a sentence. While nothing of ours is there it may become
 * another: what is on the former is looked after by nobody else.
 */
export function whyOther(
  { metadata, status = {} }: PhysicalCluster,
  uid: string | undefined,
): string | undefined {
  const { clusterUID, namespaces = 0 } = status;
  if (!clusterUID || !uid || uid === clusterUID || namespaces === 0) return undefined;
  const how = `kubectl patch physicalcluster ${metadata.name} --subresource=status --type=merge -p '{"status":{"clusterUID":null}}'`;
  return `another cluster answers (its namespace ${identifyingNamespace} is ${uid}, and not ${clusterUID}); where it is in place of the former, which runs no more: ${how}`;
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
