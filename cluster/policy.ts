import type { KubeObject } from '../kube/object.ts';
import type { LabelSelector } from '../kube/selector.ts';
import { group, version } from './names.ts';
import type { TopologySpread } from './spread.ts';
import type { Taint } from './types.ts';

/** Namespaced: of the workloads in its Namespace. */
export const placementPolicies = { group, version, resource: 'placementpolicies' } as const;
/** Cluster-scoped: of the workloads in its logical cluster; in root, of those in all. */
export const clusterPlacementPolicies = { group, version, resource: 'clusterplacementpolicies' } as const;

/** Both kinds have one shape; which of an object's policies counts: scheduler/wishes.ts. */
export type PlacementPolicy = KubeObject<PlacementPolicySpec>;

export interface PlacementPolicySpec {
  /** Of several of one layer that select an object the highest counts, then the first by name. Default 0. */
  priority?: number;
  /** Absent: every workload. */
  selector?: PolicySelector;
  /** Absent beside tolerations alone. */
  clusters?: PolicyClusters;
  /** Of taints of PhysicalClusters, as of a Pod's of its node. What tolerates NoExecute for a time stays so long, and no more comes. */
  tolerations?: Toleration[];
}

export interface Toleration {
  key?: string;
  operator?: 'Equal' | 'Exists';
  value?: string;
  effect?: '' | Taint['effect'];
  /** Of NoExecute; of the key unreachableTaint since the silence was noticed. Absent: for ever. */
  tolerationSeconds?: number;
}

/** All of what it says must hold; an empty list is as if absent. */
export interface PolicySelector {
  kinds?: PolicyKind[];
  names?: string[];
  labelSelector?: LabelSelector;
  /** Of a ClusterPlacementPolicy only, as the next. */
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
}

export interface PolicyKind {
  group?: string;
  kind: string;
}

export interface PolicyClusters {
  /** Whoever writes them may place there. */
  names?: string[];
  /** Instead of names: those of a later group only where none of an earlier one fits, or fewer than `count`. */
  groups?: string[][];
  labelSelector?: LabelSelector;
  /** CEL over `cluster`: see cluster/expression.ts. */
  expression?: string;
  exclude?: string[];
  /** How many of them. Absent: all of `names`, or all that `labelSelector` matches. */
  count?: number;
  /** Only those that have one of its values; where nobody says how many, one of each value. */
  spread?: TopologySpread;
  /** Where nobody says how many: one more takes what has no room on the first. */
  overflow?: boolean;
  /** Only where such workloads of its Namespace are; all of the list. */
  affinity?: WorkloadTerm[];
  /** Only where none of them is. */
  antiAffinity?: WorkloadTerm[];
}

/** Other workloads of the same Namespace. */
export interface WorkloadTerm {
  labelSelector: LabelSelector;
  /** What they share or not: a label of PhysicalClusters; default `cluster`, each for itself. */
  topologyKey?: string;
}

/** All that it names, in whatever group. */
export function namedBy({ names = [], groups = [] }: Pick<PolicyClusters, 'names' | 'groups'>): string[] {
  return [...names, ...groups.flat()];
}
