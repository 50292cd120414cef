import type { KubeObject } from '../kube/object.ts';
import type { Condition } from './condition.ts';

export interface Taint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  /** RFC 3339, of NoExecute: since when tolerations that end are counted. The server sets it. */
  timeAdded?: string;
}

/** A real (or simulated) Kubernetes cluster that runs workloads. Cluster-scoped, in the root logical cluster. */
export type PhysicalCluster = KubeObject<PhysicalClusterSpec, PhysicalClusterStatus>;

export interface PhysicalClusterSpec {
  /** A Secret in root whose key `kubeconfig` says how to reach it. */
  kubeconfigSecretRef: { namespace: string; name: string };
  taints?: Taint[];
  /** Cordoned: nothing new is placed on it; what is there stays. */
  unschedulable?: boolean;
  /** Drained: what is there moves away too, as far as it can. Set together with unschedulable. */
  drain?: boolean;
  /**
   * How many workloads may be on their way off it at a time while it is drained, or rebalanced. Absent: any number by a drain, one
   * by a rebalance. See scheduler/turns.ts.
   */
  drainConcurrent?: number;
  /** What need not be there may leave for where there is clearly more room. See scheduler/rebalance.ts. */
  rebalance?: boolean;
  /** What to run there costs beside other clusters, in whatever unit. Absent: 0. See scheduler/score.ts. */
  cost?: number;
  /** When this is deleted: nothing that is there holds it, neither data nor that nothing else fits. See cluster/life.ts. */
  forget?: boolean;
  /** The uids under which this very cluster was registered before: what bears them there is taken over. */
  adopt?: string[];
  /** Upper bounds (quantities) on what we place there: `cpu`, `memory`, `pods`. */
  capacity?: Record<string, string>;
  /**
   * Which labels of users' Namespaces its namespaces bear as they are written: keys, `prefix/*`, `*`. What else is
   * borne, and how: labelsThere.
   */
  namespaceLabels?: string[];
  /** Clusters that say the same have one pod network: a pod's address in one is reached from all. See cluster/peers.ts. */
  network?: string;
  /** Who copies volumes to and from it: among clusters that say the same. Absent: nobody. See cluster/volume-copy.ts. */
  copier?: string;
  /** How pods there reach their logical cluster's API. Absent: they are given that of the cluster which runs them. See cluster/pod-access.ts. */
  inClusterConfig?: InClusterConfig;
}

/** By the names of a kubeconfig. */
export interface InClusterConfig {
  /** `https://host[:port]`, of any of our servers. */
  server: string;
  /** PEM, in base64. Absent: the server's own authority. */
  certificateAuthorityData?: string;
}

export interface PhysicalClusterStatus {
  /** `Ready`: the syncer speaks to its API. Written by the syncer, by the server when the syncer is silent. */
  conditions?: Condition[];
  /** Here: see heartbeats.ts for what is said of many together while nothing is new. */
  lastHeartbeatTime?: string;
  /** It counts as silent after so long without a word, where that is longer than silentAfterMs: see silentMsOf. */
  silentAfterSeconds?: number;
  /** When its API last answered the syncer. */
  lastAnswerTime?: string;
  /** The uid of its Namespace kube-system: one cluster has one, under whatever name it is registered. */
  clusterUID?: string;
  version?: string;
  /** How many namespaces of ours are there. */
  namespaces?: number;
  /** Sums over its schedulable nodes. */
  allocatable?: Record<string, string>;
  /** The labels that its nodes have, each as `key=value`, and each key that some of them have not as `!key`, sorted; absent while nobody knows. See cluster/node-fit.ts. */
  nodeLabels?: string[];
  /** The namespaced custom resources that it serves, as `<resource>.<group>/<version>`, sorted; absent while nobody knows, in the end `*` where there are more. */
  serves?: string[];
}
