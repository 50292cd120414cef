import type { PlacementSpec } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/untyped.ts';
import { planFor } from '../splitter/plan.ts';

/**
 * How many replicas a workload is to have on each cluster once all has settled, as the splitter divides them; empty where it
 * has no number of them. Where autoscalers say how many there are on each, that stays while the clusters do.
 */
export function countsOf(root: KubeObject, spec: PlacementSpec): Record<string, number> {
  const { clusters, shares = {}, spread, scale } = spec;
  const total = numberAt(root, 'spec', 'replicas') ?? 1;
  const divided = scale?.replicas === total && deepEqual(scale.clusters, clusters);
  const scaling = scale && { total, divided };
  const { mode, goal } = planFor(root, clusters, shares, { spread, scaling });
  if (mode !== 'counts' && mode !== 'ranges') return {};
  return Object.fromEntries([...goal].map(([cluster, { replicas = 0 }]) => [cluster, replicas]));
}
