import type { KubeObject, OwnerReference } from '../kube/object.ts';
import type { Condition } from './condition.ts';
import type { Copies } from './copies.ts';
import type { Locator } from './locator.ts';
import type { NoRoom, Unplaced } from './no-room.ts';
import type { KindRule } from './placed-resource.ts';
import type { Share, SharePhase, ToldShare } from './share.ts';
import type { PlacedSpread } from './spread.ts';

export type * from './physical-cluster.ts';
export type { Condition, Locator, Share, SharePhase, ToldShare };

/** What a syncer is given of a ServiceAccount for its pods. */
export type AccountToken = KubeObject & {
  token: string;
  expirationTimestamp: string;
  /** PEM: who vouches for the server. */
  authority: string;
};

/**
 * The record of one placed object, namespaced beside it, named by placementName. Users read it; the scheduler,
 * the splitter and the syncers each write their own part by merge patch:
 *   scheduler -> spec.ref, spec.physicalNamespace and its uid, spec.clusters, spec.wanted, spec.policies, spec.reasons,
 *                spec.blocked, spec.waits, spec.leavingSince, spec.rebalancedAt, spec.givenUp, spec.copiedFrom, spec.copies, spec.spread, spec.filled, spec.noRoom, spec.unplaced, spec.requires; spec.shares when a new
 *                object takes over what an orphaned one left, or begins beside what a former one has on silent clusters
 *   splitter  -> spec.shares, spec.scale, status.conditions, of a new Deployment by what the scheduler makes (splitter/begin.ts); with a share that goes, what spec.leavingSince says of it
 *   garbage collector -> spec.orphaned, and with it what of spec.shares is surplus
 *   syncer c  -> status.clusters[c], through its view only; stored beside it (slices.ts) and read in it
 */
export type Placement = KubeObject<PlacementSpec, PlacementStatus>;

export interface PlacementSpec {
  ref: ObjectRef;
  /**
   * The uid of the Namespace that it is in, and the namespace on the physical side: said when the record is born, and
   * never again. Absent in records from before that: see physicalNamespace.
   */
  namespaceUid?: string;
  physicalNamespace?: string;
  /** What the Namespace is labelled with, absent where that is nothing; how the physical one bears it: labelsThere. */
  namespaceLabels?: Record<string, string>;
  /** Where it should be, sorted. Empty: nowhere fits (see reasons). */
  clusters: string[];
  /** The names that an annotation or a policy asks for, all of them; absent where the scheduler picks. */
  wanted?: string[];
  /** Which policies say where it may be, the most specific first. */
  policies?: string[];
  /** Why each cluster was chosen or refused: a sentence per physical cluster. */
  reasons?: Record<string, string>;
  /** True where it is not where it ought to be for want of a place; reasons says what speaks against each. */
  blocked?: boolean;
  /** Clusters that are drained, or rebalanced, and that it leaves when it is its turn. */
  waits?: string[];
  /** Of a workload, by cluster that it has a share on and is to be on no longer: since when. */
  leavingSince?: Record<string, string>;
  /** Of a workload that a rebalance has brought where it is: when. */
  rebalancedAt?: string;
  /**
   * Of a claim, by cluster: the uids of those who had it there and gave its data up; it goes when all that uses it is in place. Empty:
   * nobody had it there yet but a copier.
   */
  givenUp?: Record<string, string[]>;
  /** Of a claim: the clusters of these whose data was copied on, once and for all: what is copied next is another trip. Sorted. */
  copiedFrom?: string[];
  /** Of a workload: the claims whose data comes along when it moves; of all others it does not. */
  copies?: Copies;
  /** Of replicas: how they are spread over the clusters' values; absent: equally over the clusters. */
  spread?: PlacedSpread;
  /** Of what overflows: how many pods it was given room for where, in the order in which the clusters are filled. */
  filled?: Filled[];
  /** Of what overflows, while some of it has room nowhere. */
  noRoom?: NoRoom;
  /** The same, where it is not for want of room alone, so that noRoom is absent: reasons says what speaks against each cluster. */
  unplaced?: Unplaced;
  /** A workload's closure: what must be there before it arrives and until it has left. */
  requires?: ClosureRef[];
  /** Where it is or is about to be, and how much of it. The syncers act on this and nothing else. */
  shares?: Record<string, Share>;
  /** Of a workload that an autoscaler scales. */
  scale?: Scale;
  /**
   * The uid of an object that was deleted with propagationPolicy Orphan: what it made stays. While it is ref.uid, the
   * record is all that is left of the object. Empty: nothing may stay any longer, since the Namespace goes.
   */
  orphaned?: string;
}

/** Of a workload that overflows. */
export interface Filled {
  cluster: string;
  pods: number;
}

/** How many there are in all, where the autoscalers of the clusters say so: spec.replicas of the root follows it. */
export interface Scale {
  replicas: number;
  /** The root's metadata.generation for which that holds: a later one with other replicas is somebody's wish. */
  generation: number;
  /** Over which clusters it is divided; none while a hand-over is under way, to there or back. */
  clusters: string[];
  /** Of ordinals on their way: every autoscaler leaves them as they are, and what one did before is set anew. */
  still?: boolean;
}

export interface ObjectRef {
  group: string;
  version: string;
  resource: string;
  kind: string;
  name: string;
  uid: string;
  /** Of a kind that the code does not know: the rule by which it is placed. */
  rule?: KindRule;
}

export interface ClosureRef {
  group: string;
  resource: string;
  name: string;
}

export interface PlacementStatus {
  /** Stored beside it: see cluster/slices.ts. */
  clusters?: Record<string, ClusterSlice>;
  /**
   * Of a claim: where it is bound, sorted. The view of a cluster writes it before it says so, and takes it back after: whoever decides
   * to take a claim from its data writes under the revision of all these words.
   */
  bound?: string[];
  conditions?: Condition[];
}

/** What one syncer says of one object on its physical cluster. Untrusted: bounded and clamped before use. */
export interface ClusterSlice {
  /** False once the object is known to be absent there. */
  present: boolean;
  /** The object itself is gone there, what it left behind is not. */
  orphans?: boolean;
  /** The root's metadata.generation that was last applied there and that its controller has observed. */
  observedGeneration?: number;
  /**
   * The share that was last applied (its numbers), so that readiness is judged against it. With `scaled`, `replicas`
   * is what the physical object has now.
   */
  share?: Pick<
    Share,
    | 'replicas'
    | 'scaled'
    | 'maxReplicas'
    | 'completions'
    | 'parallelism'
    | 'ordinalsStart'
    | 'suspend'
    | 'paused'
    | 'withdrawn'
  >;
  /**
   * While its share holds more than it has, by what is held since when: the pods that are there and have not ended,
   * and their ordinals, once the controller has seen what the share says now.
   */
  pods?: { since: string; count: number; ordinals?: { start: number; end: number } };
  /** Of those that its share asks about: the claims that are there, sorted. */
  claims?: string[];
  /** Of a Pod: the node that it is bound to there. */
  nodeName?: string;
  /**
   * Of a Pod or ReplicaSet: the workload here whose controller adopted it there. What else an owner is called, its Placement
   * says. Of one that is not present: that it went while it was that one's, which is not undone.
   */
  owner?: Pick<OwnerReference, 'uid'>;
  /** Why a pod of it has no node there, as its scheduler says it. */
  unplaced?: string;
  /** The physical object's own status, as it stands there. */
  status?: Record<string, unknown>;
  /** Which labels of the Namespace the cluster does not take, by the keys that they would have there. */
  refusedLabels?: string[];
  /** Why the object could not be applied; absent when it could. */
  error?: { reason: string; message: string };
  /** A digest of what was applied and of what came of it: a syncer that starts anew knows by it what is there as it should be. */
  applied?: string;
}

/**
 * What a syncer sees: one object placed on its cluster, in that cluster's shape. Virtual, served by
 * /syncers/<cluster>/apis/atoll.dev/v1alpha1/shares; metadata is the Placement's, annotated with the logical
 * cluster.
 */
export type ShareView = KubeObject<ShareViewSpec, ClusterSlice>;

export interface ShareViewSpec {
  ref: ObjectRef;
  /** `Active` of all that does not leave, as in `share`. */
  phase: SharePhase;
  share: ToldShare;
  /** The root's metadata.generation that `manifest` was made from. */
  generation: number;
  requires: ClosureRef[];
  /** As in the Placement: of the object with this uid only the object itself is removed. */
  orphaned?: string;
  /** It leaves, and is not deleted: it is to be elsewhere, and what it made here is to be kept. */
  moved?: boolean;
  /** It was deleted, and made anew, or is to be there again after all: another one starts as soon as it has gone itself, beside those of its pods that have yet to end. */
  renewed?: boolean;
  /** Made beside what is placed: no Placement stands for it, and nobody waits to hear of it. See cluster/peers.ts. */
  isBeside?: boolean;
  /** Whose token its pods find in which Secret beside them; absent: they need none of ours. */
  account?: { name: string; uid: string; authority: string; secret: string };
  /** What to apply; absent while Leaving, and when the root object is gone. */
  manifest?: KubeObject;
  /** The namespace it goes to on the physical cluster. */
  physicalNamespace: string;
  /** Of the logical Namespace; empty where the Placement does not say. */
  namespaceUid: string;
  /** As in the Placement. */
  namespaceLabels?: Record<string, string>;
  /** What proves that the object there is this one; the manifest bears it too. */
  locator: Locator;
}
