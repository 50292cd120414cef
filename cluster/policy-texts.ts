import type { Texts } from './kind-texts.ts';
import type {
  PlacementPolicySpec,
  PolicyClusters,
  PolicyKind,
  PolicySelector,
  Toleration,
  WorkloadTerm,
} from './policy.ts';
import type { TopologySpread } from './spread.ts';

const spec: Texts<PlacementPolicySpec> = {
  priority:
    'Of several policies of one layer that select an object the one with the highest priority counts, then the first by name. Default 0.',
  selector: 'Which workloads it is about; absent, all. What they use goes along with them.',
  clusters: 'On which physical clusters they are to run.',
  tolerations:
    'Which taints of physical clusters do not keep them away. Who writes them needs the verb place on all clusters, or on those that clusters.names says.',
};

const toleration: Texts<Toleration> = {
  key: "The taint's key; empty, with the operator Exists: every taint.",
  operator: 'Equal, which is the default, or Exists.',
  value: "The taint's value, of Equal.",
  effect: "The taint's effect; empty: every one.",
  tolerationSeconds:
    'For how long what is there stays when the taint, of the effect NoExecute, is set; absent: for ever.',
};

const selector: Texts<PolicySelector> = {
  kinds: 'Of which kinds; absent, of all that run pods.',
  names: 'What they are called.',
  labelSelector: 'What they are labelled with.',
  namespaces: 'Of a ClusterPlacementPolicy: in which Namespaces, by name.',
  namespaceSelector: 'Of a ClusterPlacementPolicy: in which Namespaces, by their labels.',
};

const kind: Texts<PolicyKind> = {
  group: "The kind's API group; may be left out.",
  kind: 'The kind, such as Deployment.',
};

const clusters: Texts<PolicyClusters> = {
  names:
    'These and no others, whatever policies further out say. Who writes them needs the verb place on each.',
  groups:
    'Names as well, in groups: those of a later group only where nothing fits in the earlier ones, or fewer than count.',
  labelSelector: 'Those PhysicalClusters whose labels match, of what policies further out leave.',
  expression:
    'Those PhysicalClusters of which this expression of CEL is true, of what policies further out leave. cluster has name, labels, taints, version and capacity.',
  exclude: 'Not these, of what policies further out leave.',
  count:
    'How many of them. Absent: all that are named or match; where neither is said, what policies further out say, or one.',
  spread:
    'Over the values of a label of PhysicalClusters, of what policies further out leave. Where nobody says how many clusters, one of each value.',
  overflow:
    'One cluster as long as all of the workload has room there, and one more for what has not; those of the first groups are filled first. Of what has replicas, but for StatefulSets.',
  affinity:
    'Only where workloads of the same Namespace are that each of these selects. Of those that ask for each other the first goes where it may, and the others with it.',
  antiAffinity:
    'Only where no other workload of the same Namespace is that any of these selects; nor do those come to where it is.',
};

/** Of a policy, and as it is recorded in a Placement. */
export const spread: Texts<TopologySpread> = {
  topologyKey:
    'The key of a label of PhysicalClusters; region and zone stand for topology.kubernetes.io/region and zone, cluster for each cluster by itself. Where it is absent nothing is placed.',
  replicas:
    'By value, how many replicas it has; values that are not here have none. Where the workload has another number of replicas, in this proportion.',
  maxSkew:
    'Without replicas: by how many the replicas of two values may differ; as long as they do not differ by more, none moves. Default 1.',
};

const term: Texts<WorkloadTerm> = {
  labelSelector: "Of the workloads' own labels; empty: all of the Namespace.",
  topologyKey:
    'The key of a label of PhysicalClusters, as of a spread: to be beside is to be where that has the same value. Absent: on the same cluster.',
};

const labelSelector = {
  matchLabels: 'Labels that must be there with these values.',
  matchExpressions: 'Requirements that must hold, all of them.',
};

const requirement = {
  key: "The label's key.",
  operator: 'In, NotIn, Exists or DoesNotExist.',
  values: 'Of In and NotIn: which.',
};

export const policyTexts = {
  spec,
  selector,
  kind,
  clusters,
  spread,
  toleration,
  term,
  labelSelector,
  requirement,
  PlacementPolicy: 'PlacementPolicy says on which physical clusters workloads of its Namespace run.',
  ClusterPlacementPolicy:
    'ClusterPlacementPolicy says on which physical clusters workloads of its logical cluster run; in root, those of all.',
};
