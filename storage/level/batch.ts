import type { StoreEvent } from '../store.ts';

const MAX_EVENTS = 2048;
const MAX_BYTES = 4 << 20;
/** Of fewer writers than this, half is not worth a wait for the disk of its own. */
const MIN_SHARE = 128;

/**
 * How many of those who wait, from the first on, go into the next batch. `ahead` is how many are about to hear of
 * theirs, and will write again: of many writers half go, so that the others work while these are at the disk.
 */
export function batchSize(queue: readonly { event: StoreEvent }[], ahead: number): number {
  const most = Math.min(MAX_EVENTS, Math.max(MIN_SHARE, Math.ceil((queue.length + ahead) / 2)));
  let bytes = 0;
  let count = 0;
  for (const { event } of queue) {
    bytes += event.entry.value.length;
    if (count === most || (count > 0 && bytes > MAX_BYTES)) break;
    count++;
  }
  return count;
}

/** Whether the next batch should begin before those of the last one are answered: else they may still join it. */
export function goesAhead(waiting: number, last: number): boolean {
  return waiting > 0 && waiting * 3 >= last;
}
