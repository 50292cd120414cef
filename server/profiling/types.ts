/** Of the processor's time, or of what was allocated and is still there. */
export type Kind = 'profile' | 'heap';

export interface Question {
  /** `first`, `control`, `serving-1`: as /metrics calls the processes of a server. */
  process: string;
  kind: Kind;
  seconds: number;
}

/** A profile as V8 writes it, JSON; or why there is none. */
export type Answer = { profile: string } | { failed: 'busy' | 'unknown' | 'gone'; message: string };
