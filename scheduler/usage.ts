import { isFinished } from '../cluster/kinds.ts';
import {
  addResources,
  podCount,
  podRequests,
  podTemplate,
  type Resources,
  timesResources,
} from '../cluster/pod-spec.ts';
import { type PlacedSpread, podsOn } from '../cluster/spread.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';

/** By physical cluster. */
export type Usage = Map<string, Resources>;

export const nothingUsed: Resources = new Map();

/** What so many pods of the workload ask for; those of what has ended take nothing. */
export const asking = perObject((workload: KubeObject): ((pods: number) => Resources) => {
  const each = isFinished(workload) ? nothingUsed : podRequests(podTemplate(workload).spec);
  const known = new Map<number, Resources>();
  return (pods) => {
    const all = known.get(pods) ?? timesResources(each, pods);
    known.set(pods, all);
    return all;
  };
});

/** What a placed workload takes where. Nobody may change it. */
export function usageOf(workload: KubeObject, placement: Placement): Usage {
  return usageWith(workload)(placement);
}

const usageWith = perObject((workload: KubeObject) =>
  perObject((placement: Placement) => askedFor(workload, podsOf(workload, placement))),
);

function askedFor(workload: KubeObject, pods: ReadonlyMap<string, number>): Usage {
  const need = asking(workload);
  return new Map([...pods].map(([c, n]) => [c, need(n)]));
}

/** How many pods it has where; on a cluster in which it has no share yet, as if it were divided anew. */
export function podsOf(workload: KubeObject, placement: Placement): Map<string, number> {
  const { shares = {}, clusters = [], spread } = placement.spec ?? {};
  const count = podCount(workload);
  const pods = podsOn(count, clusters, spread);
  for (const [c, share] of Object.entries(shares)) pods.set(c, share.replicas ?? share.parallelism ?? count);
  return pods;
}

/**
 * What it takes where it is to be, on `clusters`, once it has arrived: there alone, as it is divided now, else as if it were divided
 * anew.
 */
export function settledUsage(
  workload: KubeObject,
  placement: Placement | undefined,
  { clusters, spread }: { clusters: readonly string[]; spread?: PlacedSpread | undefined },
): Usage {
  const there = Object.keys(placement?.spec?.shares ?? {});
  const isThere = there.length === clusters.length && there.every((c) => clusters.includes(c));
  if (placement && isThere) return usageOf(workload, placement);
  return askedFor(workload, podsOn(podCount(workload), clusters, spread));
}

export function addUsage(to: Usage, more: ReadonlyMap<string, Resources>): void {
  for (const [cluster, resources] of more) {
    const before = to.get(cluster);
    to.set(cluster, before ? addResources(before, resources) : resources);
  }
}
