import type { StoreEvent } from './store.ts';

/** The events after the last compaction, one per revision without gaps: reading from a revision is an index. */
export class EventLog {
  #events: StoreEvent[] = [];
  /** Where in the array the oldest event is; the array is cut when half of it is dead. */
  #head = 0;
  /** The revision before the oldest event. */
  #before: number;

  constructor(before: number) {
    this.#before = before;
  }

  get length(): number {
    return this.#events.length - this.#head;
  }

  append(event: StoreEvent): void {
    this.#events.push(event);
  }

  /** The event that made `revision`; undefined outside the log. */
  at(revision: number): StoreEvent | undefined {
    const offset = revision - this.#before - 1;
    return offset < 0 ? undefined : this.#events[this.#head + offset];
  }

  /** The events with after < revision <= until, oldest first. */
  slice(after: number, until: number): StoreEvent[] {
    const start = this.#head + Math.max(0, after - this.#before);
    return this.#events.slice(start, Math.max(start, this.#head + until - this.#before));
  }

  /** Forgets everything up to and including `revision`. */
  drop(revision: number): void {
    const count = Math.min(this.length, Math.max(0, revision - this.#before));
    this.#head += count;
    this.#before = revision;
    if (this.#head > 1024 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
  }
}
