import type { Copies } from './copies.ts';
import type { NoRoom, Unplaced } from './no-room.ts';
import { spread } from './policy-texts.ts';
import type {
  ClosureRef,
  ClusterSlice,
  Condition,
  Filled,
  InClusterConfig,
  ObjectRef,
  PhysicalClusterSpec,
  PhysicalClusterStatus,
  PlacementSpec,
  PlacementStatus,
  Scale,
  Share,
  Taint,
} from './types.ts';

type Texts<T> = Record<keyof T & string, string>;

export interface KindTexts {
  kind: string;
  spec: string;
  status: string;
}

const condition: Texts<Condition> = {
  type: 'What is said to be so or not.',
  status: 'True, False or Unknown.',
  reason: 'Why, in one word for programs.',
  message: 'Why, in a sentence for people.',
  lastTransitionTime: 'When the status last changed.',
  observedGeneration: 'The metadata.generation that this is said of.',
};

const numbers: Texts<NonNullable<ClusterSlice['share']>> = {
  replicas: 'How many of the replicas it has; of an autoscaler, its part of the minimum.',
  completions: "How many of a Job's completions it has.",
  parallelism: "How many of a Job's pods it runs at a time.",
  ordinalsStart: "The first ordinal of its part of a StatefulSet's pods.",
  scaled: 'While an autoscaler owns the replicas: how often they were set from here.',
  suspend: 'True where the kind runs on one cluster at a time and this one waits.',
  paused: 'True where others are updated first: its pods keep the template that they have.',
  withdrawn:
    'Of a Service or an Ingress: all that is behind it there is to leave, and its addresses there are not told.',
};

const share: Texts<Share> = {
  ...numbers,
  phase:
    'Joining: being made, not counted on yet. Active: counted on. Withdrawing: its successor is ready, and it gets no new connections. Leaving: being removed; what it uses stays until it is gone.',
  maxReplicas: 'Of an autoscaler, its part of the maximum.',
  settled: 'While it is Joining: what it was counted on for before it began to grow.',
  maxSurge: "Its part of a rollout's maxSurge.",
  maxUnavailable: "Its part of a rollout's, or a disruption budget's, maxUnavailable.",
  minAvailable: "Its part of a disruption budget's minAvailable.",
  hard: 'Its part of what a quota bounds of pods.',
  readySince: 'Since when it has been ready without a break.',
  held: 'Of what may not run twice: what it had, which nobody else may run until its cluster has said that it is gone.',
  cameBack:
    'Where it runs again since a copy of its data failed, until that is tried again: the trip of that copy.',
  fresh: 'Nothing of it has run there since it came, and its data is yet to be copied there.',
  claims: 'While claims are copied to its cluster: which.',
  withdrawing: 'While it is Withdrawing: since when, and what it becomes again if it is to stay.',
  awaitedSince: 'Since when it could leave, and what moves with it is waited for.',
  withdrawn:
    'Of a Service or an Ingress: all that is behind it there is to leave, and its addresses there are not told.',
  goal: 'Of a StatefulSet on its way: the ordinals that it is to have. Of what an autoscaler scales: how many it is to have once the minimum there is lowered.',
  heardSince: 'While others would shrink on its strength: its cluster must have been heard of since then.',
};

const settled: Texts<NonNullable<Share['settled']>> = {
  replicas: numbers.replicas,
  ordinalsStart: numbers.ordinalsStart,
};

const held: Texts<NonNullable<Share['held']>> = { ...settled, since: 'When it was told to have less.' };

const withdrawing: Texts<NonNullable<Share['withdrawing']>> = {
  since:
    'When it began. Absent: its cluster is silent, and nothing is taken away there until it is heard of.',
  from: 'Its phase before.',
  closedSince: 'When its cluster had taken its addresses back: from then on the time to drain counts.',
};

const pods: Texts<NonNullable<ClusterSlice['pods']>> = {
  since: 'Of which holding of the share this is said.',
  count: 'How many there are.',
  ordinals: 'The ordinals between which they are.',
};

const ordinals = { start: 'The first ordinal.', end: 'The one after the last ordinal.' };

const owner: Texts<NonNullable<ClusterSlice['owner']>> = {
  uid: 'Of this very workload, not of another one of the same name.',
};

const slice: Texts<ClusterSlice> = {
  present: 'Whether the object is there.',
  orphans: 'The object is gone there, what it left behind is not.',
  observedGeneration:
    'The metadata.generation of the object that was last applied there and seen by its controller.',
  share: 'The numbers of the share that was last applied there.',
  pods: 'While its share holds more than it has: the pods that are there and have not ended.',
  claims: 'Of the claims that are copied to the cluster: those that are there.',
  nodeName: 'Of a Pod: the node that it is bound to there.',
  owner: 'Of a Pod: the workload that adopted it there.',
  status: 'The status of the object as it stands there.',
  refusedLabels:
    'Which labels of the Namespace the cluster does not take, by the keys that they would have there.',
  error: 'Why the object could not be applied; absent when it could.',
  applied: 'A digest of what was applied there last, and of what came of it.',
};

const ref: Texts<ObjectRef> = {
  group: "The object's API group; empty for the core group.",
  version: "The object's API version.",
  resource: "The object's resource, such as deployments.",
  kind: "The object's kind, such as Deployment.",
  name: "The object's name.",
  uid: 'Of this very object, not of another one of the same name.',
  rule: 'Of a custom resource: what a PlacedResource said when it was last decided where it should be.',
};

const closureRef: Texts<ClosureRef> = { group: ref.group, resource: ref.resource, name: ref.name };

const filled: Texts<Filled> = { cluster: 'The physical cluster.', pods: 'How many pods of it.' };

const unplaced: Texts<Unplaced> = {
  pods: 'How many pods no physical cluster takes.',
  of: 'How many pods it has in all.',
};

const noRoom: Texts<NoRoom> = {
  pods: 'How many pods have no room.',
  of: unplaced.of,
  requests: 'What these pods ask for together.',
  on: 'Where they are all the same. Absent: for want of room nothing of it comes or goes.',
  refused:
    'A few of the physical clusters that take nothing of it for another reason than room; reasons says it.',
};

const scale: Texts<Scale> = {
  replicas: 'How many replicas there are to be.',
  generation: 'The metadata.generation of the object for which that holds.',
  clusters: 'The physical clusters over which they are divided.',
};

const copies: Texts<Copies> = {
  claims: 'Names; data-db-* stands for those that are made from the template data of the StatefulSet db.',
  except: 'Of these, those that are not.',
};

const placementSpec: Texts<PlacementSpec> = {
  ref: 'The object that this is about, in the same namespace.',
  namespaceUid: 'The uid of the Namespace that it is in.',
  physicalNamespace: 'The namespace that the object has on each physical cluster.',
  namespaceLabels:
    'The labels of the Namespace that it is in; its physical namespaces bear them under labels.atoll.dev.',
  clusters: 'The physical clusters where it should be. Empty: nowhere fits, and reasons says why.',
  wanted:
    'The physical clusters that an annotation atoll.dev/clusters or a policy names, where all are asked for; absent where the scheduler picks.',
  policies: 'Which policies say where it may be, the most specific first.',
  reasons: 'By physical cluster, why it was chosen or refused.',
  blocked:
    'True where it is not where it ought to be for want of a place; reasons says what speaks against each.',
  waits: 'Physical clusters that are drained, or rebalanced, and that it leaves when it is its turn.',
  leavingSince:
    'Of a workload, by physical cluster that it has a share on and is to be on no longer: since when.',
  rebalancedAt: 'Of a workload that a rebalance has brought where it is: when.',
  givenUp:
    'Of a claim, by physical cluster: the uids of the workloads that had it there and gave its data up, none where only a copier has written there; it goes when all that uses it is in place.',
  copiedFrom:
    'Of a claim, the physical clusters whose data was given up there and copied to where it was used next, and is no other data.',
  copies: 'Of a workload: the claims whose data is copied along when it moves, and no others.',
  spread: 'Over which values of which label its replicas are spread; absent, equally over the clusters.',
  filled:
    'Of a workload that overflows: how many pods it was given room for where, in the order in which the physical clusters are filled.',
  noRoom: 'Of a workload that overflows: what of it has room nowhere; absent where all of it has.',
  unplaced:
    'Of a workload that overflows: how many of its pods no physical cluster takes, not for want of room alone; reasons says what speaks against each.',
  requires: 'What the workload uses: it arrives on each cluster before the workload and leaves after it.',
  shares: 'By physical cluster, how much of the object is there or about to be.',
  scale: 'How many replicas its autoscalers made of it; absent where none does.',
  orphaned:
    'The uid of an object that was deleted with propagationPolicy Orphan: what it made stays. Empty: it may stay no longer.',
};

const placementStatus: Texts<PlacementStatus> = {
  clusters: 'By physical cluster, what its syncer says of the object there.',
  bound: 'Of a claim: the physical clusters on which there is a volume for it.',
  conditions:
    'Placed: every cluster that was asked for, or one at least, takes the object, and all of its pods. Settled: it is where it should be, in full, and nowhere else.',
};

const placement: KindTexts = {
  kind: 'Placement is the record of where one object runs, and why. The system writes it; to move the object, annotate it, or its Namespace, with atoll.dev/clusters.',
  spec: 'Where the object should be, and how much of it on each physical cluster.',
  status: 'What has come of it.',
};

const physicalClusterSpec: Texts<PhysicalClusterSpec> = {
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

const inClusterConfig: Texts<InClusterConfig> = {
  server: 'Where pods there reach an Atoll server: https://HOST[:PORT], without a path.',
  certificateAuthorityData: "Who vouches for that server, PEM in base64. Absent, the server's own authority.",
};

const secretRef = { namespace: "The Secret's namespace.", name: "The Secret's name." };

const taint: Texts<Taint> = {
  key: "The taint's key.",
  value: "The taint's value.",
  timeAdded: 'Since when tolerations of NoExecute that end are counted; set when the taint is.',
  effect:
    'NoSchedule: nothing new is placed there. PreferNoSchedule: only for want of a better place. NoExecute: what is there moves away too.',
};

const physicalClusterStatus: Texts<PhysicalClusterStatus> = {
  conditions:
    'Ready: its API answers the syncer. False: it does not, since lastAnswerTime. Unknown: the syncer is silent.',
  lastHeartbeatTime: 'When its syncer last reported.',
  lastAnswerTime: 'When its API last answered the syncer.',
  clusterUID:
    'The uid of its Namespace kube-system: one cluster has one, under whatever name it is registered.',
  namespaces: 'How many namespaces of Atoll are there.',
  version: 'The version of Kubernetes that it says it is.',
  allocatable: 'What its nodes that take pods offer together.',
  serves:
    'The namespaced custom resources that it serves, such as rollouts.argoproj.io/v1alpha1; * in the end: there are more.',
};

const physicalCluster: KindTexts = {
  kind: 'PhysicalCluster is a Kubernetes cluster that runs workloads. It is registered in the logical cluster root.',
  spec: 'How to reach it, and what may be placed there.',
  status: 'How it is, as its syncer sees it.',
};

const workspace: KindTexts = {
  kind: 'Workspace makes a logical cluster below the one that it is in, and stands for it.',
  spec: 'Which logical cluster it is.',
  status: 'How far it has come.',
};

const logicalCluster: KindTexts = {
  kind: 'LogicalCluster, named cluster, is in every logical cluster: that it exists says that the logical cluster does.',
  spec: 'Who made it.',
  status: 'How far it has come.',
};

const phase = 'Scheduling, Initializing or Ready.';

/** What `kubectl explain` says of our own kinds: every field has its text, or cluster/resources.ts does not compile. */
export const texts = {
  condition,
  numbers,
  share,
  settled,
  held,
  withdrawing,
  pods,
  ordinals,
  owner,
  slice,
  ref,
  closureRef,
  filled,
  noRoom,
  unplaced,
  scale,
  copies,
  placementSpec,
  spread: {
    ...spread,
    values: 'By physical cluster, which value it has.',
    order:
      'The values as they are filled: where there are fewer replicas than the counts say, those without room go first, then those of the last.',
    most: 'By physical cluster, how many of them it has room for, where that is why there are others. No autoscaler there asks for more.',
  },
  placementStatus,
  placement,
  error: { reason: 'In one word for programs.', message: 'In a sentence for people.' },
  physicalClusterSpec,
  inClusterConfig,
  secretRef,
  taint,
  physicalClusterStatus,
  physicalCluster,
  workspace,
  logicalCluster,
  workspaceSpec: {
    type: 'What kind of workspace it is.',
    cluster: 'The logical cluster that it stands for.',
    URL: 'Where the logical cluster is served.',
    limits:
      'What the logical cluster may use, with all that are below it. What is absent, the settings of the server bound. Who sets it needs the verb limit on workspaces.',
  },
  limits: {
    objects: 'How many objects may be stored.',
    bytes: 'How many bytes they may have together, as they are stored.',
    customResourceDefinitions: 'How many CustomResourceDefinitions there may be.',
    webhooks: 'How many webhooks there may be, validating and mutating together.',
    requestsPerSecond: 'How many requests a second are answered in the long run.',
    requestBurst: 'How many may come at once after a pause. Default: twice as many as a second.',
    watches: 'How many watches there may be at a time.',
  },
  workspaceType: { name: "The type's name.", path: 'The logical cluster that the type is defined in.' },
  workspaceStatus: {
    phase,
    conditions: 'What keeps it from being Ready.',
    hard: 'What its logical cluster may use; filled in as it is read.',
    used: 'What its logical cluster uses, with all that are below it; filled in as it is read.',
  },
  podMetrics: {
    apiVersion: '',
    kind: 'What a pod uses, as the physical cluster that runs it says. Made as it is asked for.',
    metadata: '',
    timestamp: 'When it was measured.',
    window: 'Over how long before that.',
    containers: 'What each of its containers uses.',
  },
  containerMetrics: {
    name: "The container's name.",
    usage: 'How much it uses, by resource: cpu and memory.',
  },
  logicalClusterSpec: { owner: 'The object that made it: its Workspace.' },
  logicalClusterStatus: {
    phase,
    URL: 'Where it is served.',
    hard: 'What it may use; filled in as it is read.',
    used: 'What it uses, with all that are below it; filled in as it is read.',
  },
};
