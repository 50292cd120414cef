import type { KubeObject } from '../kube/object.ts';
import type { LabelSelector } from '../kube/selector.ts';
import { group, version } from './names.ts';
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
  clusters: PolicyClusters;
  /** Of taints of PhysicalClusters, as of a Pod's of its node; NoExecute for ever. */
  tolerations?: Toleration[];
}

export interface Toleration {
  key?: string;
  operator?: 'Equal' | 'Exists';
  value?: string;
  effect?: '' | Taint['effect'];
  /** Refused. */
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
  exclude?: string[];
  /** How many of them. Absent: all of `names`, or all that `labelSelector` matches. */
  count?: number;
}

/** All that it names, in whatever group. */
export function namedBy({ names = [], groups = [] }: Pick<PolicyClusters, 'names' | 'groups'>): string[] {
  return [...names, ...groups.flat()];
}
