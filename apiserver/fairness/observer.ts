import type { LevelLimits } from './limits.ts';

/** Names of a priority level and a FlowSchema; the same object for the same two, mostly. */
export interface Sorted {
  readonly level: string;
  readonly schema: string;
}

/** Why a request was not served, in kube-apiserver's words. */
export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** Told what becomes of requests on the rung of fairness: it counts, and neither waits nor throws. */
export interface FairnessObserver {
  queued(at: Sorted, seats: number): void;
  /** It is in no queue any longer, for whatever reason. */
  left(at: Sorted, seats: number): void;
  /** Not told of what is exempt. */
  waited(at: Sorted, seconds: number, served: boolean): void;
  dispatched(at: Sorted, seats: number): void;
  ended(at: Sorted, seats: number): void;
  rejected(at: Sorted, reason: Refusal): void;
  /** What each level has from now on. */
  limited(levels: readonly { name: string; limits: LevelLimits }[]): void;
}
