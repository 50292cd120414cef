import type { Copies } from './copies.ts';
import type { KindTexts, Texts } from './kind-texts.ts';
import type { NoRoom, Unplaced } from './no-room.ts';
import { spread } from './policy-texts.ts';
import type { ClosureRef, Filled, ObjectRef, PlacementSpec, PlacementStatus, Scale } from './types.ts';

export const ref: Texts<ObjectRef> = {
  group: "The object's API group; empty for the core group.",
  version: "The object's API version.",
  resource: "The object's resource, such as deployments.",
  kind: "The object's kind, such as Deployment.",
  name: "The object's name.",
  uid: 'Of this very object, not of another one of the same name.',
  rule: 'Of a custom resource: what a PlacedResource said when it was last decided where it should be.',
};

export const closureRef: Texts<ClosureRef> = { group: ref.group, resource: ref.resource, name: ref.name };

export const filled: Texts<Filled> = { cluster: 'The physical cluster.', pods: 'How many pods of it.' };

export const unplaced: Texts<Unplaced> = {
  pods: 'How many pods no physical cluster takes.',
  of: 'How many pods it has in all.',
};

export const noRoom: Texts<NoRoom> = {
  pods: 'How many pods have no room.',
  of: unplaced.of,
  requests: 'What these pods ask for together.',
  on: 'Where they are all the same. Absent: for want of room nothing of it comes or goes.',
  refused:
    'A few of the physical clusters that take nothing of it for another reason than room; reasons says it.',
};

export const scale: Texts<Scale> = {
  replicas: 'How many replicas there are to be.',
  generation: 'The metadata.generation of the object for which that holds.',
  clusters: 'The physical clusters over which they are divided.',
  still:
    'Of a StatefulSet on its way: its autoscalers leave it as it is, and what they did before was set anew.',
};

export const copies: Texts<Copies> = {
  claims: 'Names; data-db-* stands for those that are made from the template data of the StatefulSet db.',
  except: 'Of these, those that are not.',
};

export const placementSpec: Texts<PlacementSpec> = {
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

export const placementStatus: Texts<PlacementStatus> = {
  clusters: 'By physical cluster, what its syncer says of the object there.',
  bound: 'Of a claim: the physical clusters on which there is a volume for it.',
  conditions:
    'Placed: every cluster that was asked for, or one at least, takes the object, and all of its pods. Settled: it is where it should be, in full, and nowhere else.',
};

export const placement: KindTexts = {
  kind: 'Placement is the record of where one object runs, and why. The system writes it; to move the object, annotate it, or its Namespace, with atoll.dev/clusters.',
  spec: 'Where the object should be, and how much of it on each physical cluster.',
  status: 'What has come of it.',
};

export const placedSpread = {
  ...spread,
  values: 'By physical cluster, which value it has.',
  order:
    'The values as they are filled: where there are fewer replicas than the counts say, those without room go first, then those of the last.',
  most: 'By physical cluster, how many of them it has room for, where that is why there are others. No autoscaler there asks for more.',
};
