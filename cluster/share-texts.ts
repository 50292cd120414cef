import type { Texts } from './kind-texts.ts';
import type { ClusterSlice, Share } from './types.ts';

export const numbers: Texts<NonNullable<ClusterSlice['share']>> = {
  replicas: 'How many of the replicas it has; of an autoscaler, its part of the minimum.',
  completions: "How many of a Job's completions it has.",
  parallelism: "How many of a Job's pods it runs at a time.",
  ordinalsStart: "The first ordinal of its part of a StatefulSet's pods.",
  scaled: 'While an autoscaler owns the replicas: how often they were set from here.',
  maxReplicas: 'Of an autoscaler, its part of the maximum.',
  suspend:
    'True where the kind runs on one cluster at a time and this one waits; of an autoscaler, while it is to leave its target as it is.',
  paused: 'True where others are updated first: its pods keep the template that they have.',
  withdrawn:
    'Of a Service or an Ingress: all that is behind it there is to leave, and its addresses there are not told.',
};

export const share: Texts<Share> = {
  ...numbers,
  phase:
    'Joining: being made, not counted on yet. Active: counted on. Withdrawing: its successor is ready, and it gets no new connections. Leaving: being removed; what it uses stays until it is gone.',
  settled: 'While it is Joining: what it was counted on for before it began to grow.',
  maxSurge: "Its part of a rollout's maxSurge.",
  maxUnavailable: "Its part of a rollout's, or a disruption budget's, maxUnavailable.",
  minAvailable: "Its part of a disruption budget's minAvailable.",
  hard: 'Its part of what a quota bounds of pods.',
  readySince: 'Since when it has been ready without a break.',
  held: 'Of what may not run twice: what it had, which nobody else may run until its cluster has said that it is gone.',
  came: 'Of a part of a Job: completions that had come on clusters which were given up since.',
  ranAt:
    'Of a CronJob that waited and runs now: when one was last due that has been started, on whichever cluster.',
  cameBack:
    'Where it runs again since a copy of its data failed, until that is tried again: the trip of that copy.',
  fresh: 'Nothing of it has run there since it came, and its data is yet to be copied there.',
  claims: 'While claims are copied to its cluster: which.',
  withdrawing: 'While it is Withdrawing: since when, and what it becomes again if it is to stay.',
  awaitedSince: 'Since when it could leave, and what moves with it is waited for.',
  withdrawn:
    'Of a Service or an Ingress: all that is behind it there is to leave, and its addresses there are not told.',
  goal: 'Of a StatefulSet on its way: the ordinals that it is to have. Of what an autoscaler scales: how many it is to have once the minimum there is lowered.',
  former:
    'While it is Leaving: it is of the former object of that name, which goes when its cluster is heard of again, and counts for nothing.',
  anew: 'While it is Leaving: it is to be there again, and starts beside those of its pods that have yet to end.',
  surplus: 'Of what was orphaned on its way elsewhere: its pods are left on another cluster, and go there.',
  heardSince: 'While others would shrink on its strength: its cluster must have been heard of since then.',
};

export const settled: Texts<NonNullable<Share['settled']>> = {
  replicas: numbers.replicas,
  ordinalsStart: numbers.ordinalsStart,
};

export const held: Texts<NonNullable<Share['held']>> = {
  ...settled,
  since: 'When it was told to have less.',
};

export const withdrawing: Texts<NonNullable<Share['withdrawing']>> = {
  since:
    'When it began. Absent: its cluster is silent, and nothing is taken away there until it is heard of.',
  from: 'Its phase before.',
  closedSince: 'When its cluster had taken its addresses back: from then on the time to drain counts.',
};

export const pods: Texts<NonNullable<ClusterSlice['pods']>> = {
  since: 'Of which holding of the share this is said.',
  count: 'How many there are.',
  ordinals: 'The ordinals between which they are.',
};

export const ordinals = { start: 'The first ordinal.', end: 'The one after the last ordinal.' };

export const owner: Texts<NonNullable<ClusterSlice['owner']>> = {
  uid: 'Of this very workload, not of another one of the same name.',
};

export const slice: Texts<ClusterSlice> = {
  present: 'Whether the object is there.',
  orphans: 'The object is gone there, what it left behind is not.',
  observedGeneration:
    'The metadata.generation of the object that was last applied there and seen by its controller.',
  share: 'The numbers of the share that was last applied there.',
  pods: 'While its share holds more than it has: the pods that are there and have not ended.',
  claims: 'Of the claims that are copied to the cluster: those that are there.',
  nodeName: 'Of a Pod: the node that it is bound to there.',
  owner: 'Of a Pod: the workload that adopted it there.',
  unplaced: 'Why a pod of it has no node there, as the scheduler of the cluster says it.',
  status: 'The status of the object as it stands there.',
  refusedLabels:
    'Which labels of the Namespace the cluster does not take, by the keys that they would have there.',
  error: 'Why the object could not be applied; absent when it could.',
  applied: 'A digest of what was applied there last, and of what came of it.',
};
