import {
  addResources,
  podCount,
  podRequests,
  podTemplate,
  type Resources,
  timesResources,
} from '../cluster/pod-spec.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';

/** By physical cluster. */
export type Usage = Map<string, Resources>;

export const nothingUsed: Resources = new Map();

/** What the workload asks for in one pod, times `pods`. */
export function requestsOf(workload: KubeObject, pods: number): Resources {
  return timesResources(podRequests(podTemplate(workload).spec), pods);
}

/** What a placed workload takes where; before it has shares, as if it were divided equally. */
export function usageOf(workload: KubeObject, placement: Placement): Usage {
  const shares = Object.entries(placement.spec?.shares ?? {});
  const clusters = placement.spec?.clusters ?? [];
  const count = podCount(workload);
  if (shares.length === 0) {
    const each = Math.ceil(count / Math.max(1, clusters.length));
    return new Map(clusters.map((c) => [c, requestsOf(workload, each)]));
  }
  return new Map(
    shares.map(([c, share]) => [c, requestsOf(workload, share.replicas ?? share.parallelism ?? count)]),
  );
}

export function addUsage(to: Usage, more: ReadonlyMap<string, Resources>): void {
  for (const [cluster, resources] of more) {
    to.set(cluster, addResources(to.get(cluster) ?? nothingUsed, resources));
  }
}
