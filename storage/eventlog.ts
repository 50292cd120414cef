import type { StoreEvent } from './store.ts';

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
