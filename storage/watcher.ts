import type { Range, StoreError, WatchOptions } from './store.ts';

/** Who watches a range: see WatchHub. */
export interface Watcher {
  readonly range: Range;
  readonly options: WatchOptions;
  /** Events up to and including this revision were delivered, or are not wanted. */
  seen: number;
  /** Gets each commit as it happens. Else it is behind, or blocked, or its caller has no stop function yet. */
  live: boolean;
  ended: boolean;
  /** While `watch` waits for the end of the history. */
  settle: ((failure?: StoreError) => void) | undefined;
  readonly stop: () => void;
}
