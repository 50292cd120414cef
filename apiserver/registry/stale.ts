import type { Entry } from '../../storage/store.ts';

const stale = new WeakSet<Entry>();

/** It is not stored as it would be written now. */
export function markStale(entry: Entry): void {
  stale.add(entry);
}

/** Whether it is to be written though nothing in it changes. */
export function isStale(entry: Entry): boolean {
  return stale.has(entry);
}
