import type { Range, StoreEvent } from './store.ts';

/** How many events one call looks at, and gives, at most: more would hold up everything else. */
const MAX_LOOK = 4096;
const MAX_GIVE = 256;

/**
 * The events after the last compaction, in the order of their revisions. Revisions may be missing (somebody else
 * made them) or repeat (one commit that changed several keys), so a revision is found by a binary search.
 */
export class EventLog {
  #events: StoreEvent[] = [];
  /** Where in the array the oldest event is; the array is cut when half of it is dead. */
  #head = 0;

  get length(): number {
    return this.#events.length - this.#head;
  }

  append(event: StoreEvent): void {
    this.#events.push(event);
  }

  /** The events with after < revision <= until, oldest first. */
  slice(after: number, until: number): StoreEvent[] {
    return this.#events.slice(this.#firstAfter(after), this.#firstAfter(until));
  }

  /** The first events of the range after a revision, and up to which revision they are all. */
  next(after: number, range: Range): { events: StoreEvent[]; until: number } {
    const events: StoreEvent[] = [];
    const from = this.#firstAfter(after);
    let until = after;
    for (let i = from; i < this.#events.length; i++) {
      const event = this.#events[i];
      if (event === undefined) break;
      // Events of one revision are never torn apart.
      const enough = events.length >= MAX_GIVE || i - from >= MAX_LOOK;
      if (enough && event.entry.revision > until) return { events, until };
      until = event.entry.revision;
      if (event.entry.key >= range.start && event.entry.key < range.end) events.push(event);
    }
    return { events, until: Infinity };
  }

  /** Forgets everything up to and including `revision`. */
  drop(revision: number): void {
    this.#head = this.#firstAfter(revision);
    if (this.#head > 1024 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Where in the array the first event after `revision` is. */
  #firstAfter(revision: number): number {
    let low = this.#head;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.entry.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
