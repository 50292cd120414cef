import type { EventLog } from './event-log.ts';
import type { KeyIndex } from './key-index.ts';
import { entryAt } from './slot.ts';
import type { Range } from './store.ts';

export interface Counted {
  index: KeyIndex;
  log: EventLog;
  /** The revision that the index shows. */
  newest: number;
}

/**
 * How many keys of the range have an entry at `revision`: counts from now backwards through the log, or walks the
 * range, whichever is shorter.
 */
export function countAt({ index, log, newest }: Counted, range: Range, revision: number): number {
  if (newest - revision > index.countSlots(range)) return countEntries(index, range, revision);
  let count = index.countLive(range);
  for (const event of log.slice(revision, newest)) {
    if (event.entry.key < range.start || event.entry.key >= range.end) continue;
    if (event.type === 'delete') count++;
    else if (event.previous === undefined) count--;
  }
  return count;
}

function countEntries(index: KeyIndex, range: Range, revision: number): number {
  let count = 0;
  index.walk(range, (slot) => {
    if (entryAt(slot, revision) !== undefined) count++;
    return true;
  });
  return count;
}
