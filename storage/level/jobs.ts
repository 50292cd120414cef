import type { Entry, StoreError, StoreEvent } from '../store.ts';

/** A write that was accepted. */
export interface Job {
  readonly event: StoreEvent;
  readonly resolve: (entry: Entry) => void;
  readonly reject: (reason: StoreError) => void;
}

/** A batch on its way to the disk. */
export interface Begun {
  readonly batch: readonly Job[];
  readonly outcome: Promise<{ error: unknown } | undefined>;
  readonly began: number;
}

/** Something to write between two batches. */
export interface Chore {
  readonly work: () => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: StoreError) => void;
}
