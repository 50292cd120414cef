import { StoreError } from './store.ts';

/** Asked for what was forgotten. */
export function compactedError(revision: number, oldest: number): StoreError {
  return new StoreError('compacted', `revision ${revision} was compacted; the oldest is ${oldest}`);
}

/** Asked for what is to come. */
export function futureError(revision: number, newest: number): StoreError {
  return new StoreError('future', `revision ${revision} is not there yet; the newest is ${newest}`);
}
