import type { KeyIndex, Slot } from './key-index.ts';
import { isOnDisk } from './residency.ts';
import type { Entry, Range, StoreEvent } from './store.ts';

const FEW_EVENTS = 256;

/** The current entry: from history, when only that has its value in memory. */
export function currentOf(slot: Slot): Entry | undefined {
  return isOnDisk(slot.current) ? (inHistory(slot) ?? slot.current) : slot.current;
}

function inHistory(slot: Slot): Entry | undefined {
  const newest = newestEvent(slot)?.entry;
  return newest?.revision === slot.current?.revision ? newest : undefined;
}

/** Of a value that is current, but in memory only because of history. */
export function pinnedBytes(slot: Slot): number {
  return isOnDisk(slot.current) ? (inHistory(slot)?.value.length ?? 0) : 0;
}

/** Nothing is known of the key, and nothing was. */
export function isEmpty(slot: Slot): boolean {
  return slot.current === undefined && slot.events === undefined;
}

/** Oldest first. */
export function eventsOf({ events }: Slot): readonly StoreEvent[] {
  if (events === undefined) return [];
  return Array.isArray(events) ? events : [events];
}

export function newestEvent({ events }: Slot): StoreEvent | undefined {
  return Array.isArray(events) ? events[events.length - 1] : events;
}

export function addEvent(slot: Slot, event: StoreEvent): void {
  if (slot.events === undefined) slot.events = event;
  else if (Array.isArray(slot.events)) slot.events.push(event);
  else slot.events = [slot.events, event];
}

export function dropOldestEvent(slot: Slot): void {
  if (Array.isArray(slot.events) && slot.events.length > 1) slot.events.shift();
  else slot.events = undefined;
}

/** The entry as of a revision that history still has. */
export function entryAt(slot: Slot, revision: number): Entry | undefined {
  if (slot.events === undefined) return slot.current;
  const events = eventsOf(slot);
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (event !== undefined && event.entry.revision <= revision) {
      return event.type === 'put' ? event.entry : undefined;
    }
  }
  return events[0]?.previous;
}

/** The events of the range's keys after a revision, oldest first; undefined when they are too many to give at once. */
export function eventsIn(index: KeyIndex, range: Range, after: number): StoreEvent[] | undefined {
  const events: StoreEvent[] = [];
  let looked = 0;
  index.walk(range, (slot) => {
    const ofKey = eventsOf(slot);
    looked += ofKey.length;
    if (looked > FEW_EVENTS) return false;
    for (const event of ofKey) if (event.entry.revision > after) events.push(event);
    return true;
  });
  return looked > FEW_EVENTS ? undefined : events.sort((a, b) => a.entry.revision - b.entry.revision);
}
