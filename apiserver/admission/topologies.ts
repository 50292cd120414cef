import { group, physicalClusters, rootCluster } from '../../cluster/names.ts';
import { topologyOf } from '../../cluster/spread.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { AdmissionRequest } from '../plugins.ts';

export async function clustersOf({ registry }: AdmissionRequest): Promise<readonly KubeObject[]> {
  const scope = { cluster: rootCluster, group, resource: physicalClusters.resource };
  return (await registry.list(scope)).items;
}

/** A label that none of the clusters has, where there are some, is hardly meant. */
export function isNowhere(key: string, clusters: readonly KubeObject[]): boolean {
  return clusters.length > 0 && clusters.every((cluster) => topologyOf(key, cluster) === undefined);
}

export function nowhere(key: string): string {
  return `no physical cluster has the label ${key} yet`;
}
