import type { NamespaceIndex, PlacedObject } from '../cluster/closure.ts';
import type { Copies } from '../cluster/copies.ts';
import type { Resources } from '../cluster/pod-spec.ts';
import type { ClosureRef, PhysicalCluster, Placement } from '../cluster/types.ts';
import type { CopiesFound } from '../cluster/volume-copy.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Fleet } from './fleet.ts';
import type { Choice } from './judge.ts';
import type { Layers } from './policies.ts';
import type { Leaving } from './turns.ts';
import type { Usage } from './usage.ts';
import type { Wish } from './wishes.ts';

export interface NamespaceInput {
  /** Undefined when it is not known (any more): its annotation is as if absent. */
  namespace: KubeObject | undefined;
  /** All objects of placed kinds in it, those that are never pushed too. */
  objects: readonly PlacedObject[];
  placements: readonly Placement[];
  /** The uids of objects that may be there, unseen: their Placements stay as they are, unless the Namespace goes. */
  unknown?: ReadonlySet<string>;
  /** By uid: who leaves no data now, and why. See scheduler/unread.ts. */
  unread?: ReadonlyMap<string, string>;
  /** Claims that StatefulSets' controllers made on physical clusters, as they are reflected here. */
  claims?: readonly KubeObject[];
  /** What copiers say of claims in it. */
  copies?: CopiesFound;
  clusters: readonly PhysicalCluster[];
  /** Of these, for whoever has it already. */
  fleet?: Fleet;
  /** Those that may be about something in it. */
  policies?: Layers;
  /** Clusters that nothing may be placed on whatever else they say of themselves, with the reason. */
  notTaken?: ReadonlyMap<string, string>;
  /** What other namespaces take. */
  usage: ReadonlyMap<string, Resources>;
  /** The same, once all that is on its way has arrived; default: what they take. */
  settled?: ReadonlyMap<string, Resources>;
  /** Who leaves which cluster in other namespaces. Absent: nobody waits for a turn. */
  leaving?: Leaving | undefined;
  /** Milliseconds since 1970. */
  now: number;
  /** When the scheduler began to see the clusters; default: long ago. */
  startedAt?: number;
  /** Whether what a rebalance leaves where it is is told, too. For plans. */
  explains?: boolean;
  /** Objects and placements are those of a part of the Namespace: what there is of the rest that they are decided by. */
  beside?: Beside;
}

export interface Beside {
  /** Of the whole Namespace, as far as the part goes. */
  index: NamespaceIndex;
  /** How many workloads of the rest are on each cluster. What these take is in `usage`, and in `settled`. */
  counts: ReadonlyMap<string, number>;
  /** By refKey, where the rest needs what the part has. */
  needed: ReadonlyMap<string, readonly string[]>;
}

export interface NamespaceDecision {
  /** The scheduler's own annotation, to be written, or removed (undefined). */
  annotate: { placed: PlacedObject; clusters: string | undefined }[];
  create: Placement[];
  update: { old: Placement; wanted: Placement }[];
  remove: Placement[];
  /**
   * Who leaves a cluster that it may have data on, or has its data given up there, by this decision first; with a claim all
   * that use it. What this is decided by may not be all that was said: see unheardOf in scheduler/heard.ts.
   */
  leaveData: Decided[];
  /** Pods that were deleted and run nowhere any more: what is left of them goes. */
  finish: KubeObject[];
  /** What this namespace takes once it is so. */
  usage: Usage;
  /** The same, and all of it has arrived. */
  settled: Usage;
  /** How many of this namespace leave which cluster once it is so. */
  leaving: Leaving;
  /** Clusters that something here leaves when it is its turn. */
  waiting: string[];
  /** Something is not where it ought to be for want of a place. */
  blocked: boolean;
  /** Something is to be looked at again, though nothing may say when: see Choice. */
  lookAgain: boolean;
  /** A cluster that comes, or changes, may be one for something here, wherever that is now. */
  open: boolean;
  /** When something here is tolerated no longer where it is, in milliseconds since 1970; Infinity: never. */
  toleratedUntil: number;
  /** When something that leaves counts no longer, or what a rebalance has moved may move again, the same. */
  turnUntil: number;
  /** What stays where it is, or is nowhere, and keeps the rest of its Namespace on clusters that rebalance. See explains. */
  kept: ReadonlyMap<Placement, readonly Kept[]>;
}

export interface Kept {
  /** What rebalances. */
  from: string;
  why: string;
}

/** A decided object: where, why, and what has to come along. */
export interface Decided {
  placed: PlacedObject;
  choice: Choice;
  wish: Wish | undefined;
  requires: ClosureRef[];
  /** Of a workload: see leavingSince in scheduler/turns.ts. */
  leavingSince?: Record<string, string> | undefined;
  /** Of a workload, both: see Placement. */
  copies?: Copies | undefined;
  rebalancedAt?: string | undefined;
  /** Of the clusters that were chosen: see misfitsOn. Kept until the next decision, so without what it was found by. */
  misfits?: ReadonlyMap<string, string>;
}
