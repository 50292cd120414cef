import type { KindTexts, Texts } from './kind-texts.ts';
import type { InClusterConfig, PhysicalClusterSpec, PhysicalClusterStatus, Taint } from './types.ts';

export const physicalClusterSpec: Texts<PhysicalClusterSpec> = {
  kubeconfigSecretRef:
    'The Secret, in the logical cluster root, whose key kubeconfig says how to reach the cluster.',
  taints: 'What keeps workloads away, or drives them away (NoExecute).',
  unschedulable: 'Cordoned: nothing new is placed on it; what is there stays.',
  drain: 'Drained: what is there moves away too, as far as it can. Set together with unschedulable.',
  drainConcurrent:
    'How many workloads may be on their way off it at a time while it is drained, or rebalanced; absent, any number by a drain, one by a rebalance. What moves together moves together all the same.',
  rebalance:
    'What need not be there may leave for where there is clearly more room: 10 points of a hundred more of the scarcest resource.',
  cost: 'What it costs to run there beside other clusters, in whatever unit: where several take a workload, the one that costs least does. Absent, 0.',
  forget: 'Once this is deleted, what is there holds it no longer: neither data nor that nothing else fits.',
  adopt: 'The uids under which this very cluster was registered before: what bears them there is taken over.',
  capacity:
    'Upper bounds on what is placed there: cpu, memory, pods. Where its nodes offer less, that counts.',
  namespaceLabels:
    "Which labels of users' Namespaces its namespaces bear as they are written: keys, prefix/*, or * for all but those of kubernetes.io, k8s.io and openshift.io, which have to be named.",
  network:
    "Clusters that say the same have one pod network: a pod's address in one is reached from all. Services that are on several of them reach the pods on all.",
  copier:
    'Who copies volumes: among clusters that say the same, by VolumeCopy objects that name it. Absent, nobody, and atoll.dev/volumes: copy moves nothing to or from it.',
  inClusterConfig:
    'How pods there reach the API of their logical cluster, with a token of their ServiceAccount there. Absent, they are given the API of the cluster that runs them.',
};

export const inClusterConfig: Texts<InClusterConfig> = {
  server: 'Where pods there reach an Atoll server: https://HOST[:PORT], without a path.',
  certificateAuthorityData: "Who vouches for that server, PEM in base64. Absent, the server's own authority.",
};

export const secretRef = { namespace: "The Secret's namespace.", name: "The Secret's name." };

export const taint: Texts<Taint> = {
  key: "The taint's key.",
  value: "The taint's value.",
  timeAdded: 'Since when tolerations of NoExecute that end are counted; set when the taint is.',
  effect:
    'NoSchedule: nothing new is placed there. PreferNoSchedule: only for want of a better place. NoExecute: what is there moves away too.',
};

export const physicalClusterStatus: Texts<PhysicalClusterStatus> = {
  conditions:
    'Ready: its API answers the syncer. False: it does not, since lastAnswerTime. Unknown: the syncer is silent.',
  lastHeartbeatTime: 'When its syncer last reported.',
  silentAfterSeconds:
    'After how long without a report it counts as silent: longer where nothing of Atoll is. Absent: 40.',
  lastAnswerTime: 'When its API last answered the syncer.',
  clusterUID:
    'The uid of its Namespace kube-system: one cluster has one, under whatever name it is registered.',
  namespaces: 'How many namespaces of Atoll are there.',
  version: 'The version of Kubernetes that it says it is.',
  allocatable: 'What its nodes that take pods offer together.',
  nodeLabels:
    'The labels that any of its nodes has, as key=value, and their names as metadata.name=NAME; !key where some of its nodes have no label of that key; key=* stands for all that could be told of it, * in the end for more keys.',
  serves:
    'The namespaced custom resources that it serves, such as rollouts.argoproj.io/v1alpha1; * in the end: there are more.',
};

export const physicalCluster: KindTexts = {
  kind: 'PhysicalCluster is a Kubernetes cluster that runs workloads. It is registered in the logical cluster root.',
  spec: 'How to reach it, and what may be placed there.',
  status: 'How it is, as its syncer sees it.',
};
