import type { KeyIndex, Slot } from './keyindex.ts';
import { isOnDisk } from './residency.ts';
import type { Entry, Range, StoreEvent } from './store.ts';

const FEW_EVENTS = 256;

/** The current entry: from history, when only that has its value in memory. */
export function currentOf(slot: Slot): Entry | undefined {
  return isOnDisk(slot.current) ? (inHistory(slot) ?? slot.current) : slot.current;
}

function inHistory(slot: Slot): Entry | undefined {
  const newest = slot.events?.[slot.events.length - 1]?.entry;
  return newest?.revision === slot.current?.revision ? newest : undefined;
}

/** Of a value that is current, but in memory only because of history. */
export function pinnedBytes(slot: Slot): number {
  return isOnDisk(slot.current) ? (inHistory(slot)?.value.length ?? 0) : 0;
}

/** The entry as of a revision that history still has. */
export function entryAt(slot: Slot, revision: number): Entry | undefined {
  const events = slot.events;
  if (events === undefined) return slot.current;
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (event !== undefined && event.entry.revision <= revision) {
      return event.type === 'put' ? event.entry : undefined;
    }
  }
  return events[0]?.previous;
}

/** The events of the range's keys after a revision, oldest first; undefined when they are too many to give at once. */
export function eventsOf(index: KeyIndex, range: Range, after: number): StoreEvent[] | undefined {
  const events: StoreEvent[] = [];
  let looked = 0;
  index.walk(range, (slot) => {
    looked += slot.events?.length ?? 0;
    if (looked > FEW_EVENTS) return false;
    for (const event of slot.events ?? []) if (event.entry.revision > after) events.push(event);
    return true;
  });
  return looked > FEW_EVENTS ? undefined : events.sort((a, b) => a.entry.revision - b.entry.revision);
}
