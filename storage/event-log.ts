import type { Range, StoreEvent } from './store.ts';

/** How many events one call looks at, and gives, at most: more would hold up everything else. */
const MAX_LOOK = 4096;
const MAX_GIVE = 256;
/** Events lie together by so many: forgetting some moves no more than that, and keeps none of the forgotten alive. */
const CHUNK = 1024;

/** Where an event is: which chunk, and where in it. */
interface Place {
  chunk: number;
  at: number;
}

/**
 * The events after the last compaction, in the order of their revisions. Revisions may be missing (somebody else
 * made them) or repeat (one commit that changed several keys), so a revision is found by a binary search.
 */
export class EventLog {
  /** None of them is empty. */
  readonly #chunks: StoreEvent[][] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(event: StoreEvent): void {
    const last = this.#chunks[this.#chunks.length - 1];
    if (last === undefined || last.length >= CHUNK) this.#chunks.push([event]);
    else last.push(event);
    this.#length++;
  }

  /** The events with after < revision <= until, oldest first. */
  slice(after: number, until: number): StoreEvent[] {
    const events: StoreEvent[] = [];
    for (const event of this.#from(this.#firstAfter(after))) {
      if (event.entry.revision > until) break;
      events.push(event);
    }
    return events;
  }

  /** The first events of the range after a revision, and up to which revision they are all. */
  next(after: number, range: Range): { events: StoreEvent[]; until: number } {
    const events: StoreEvent[] = [];
    let until = after;
    let looked = 0;
    for (const event of this.#from(this.#firstAfter(after))) {
      // Events of one revision are never torn apart.
      const enough = events.length >= MAX_GIVE || looked >= MAX_LOOK;
      if (enough && event.entry.revision > until) return { events, until };
      looked++;
      until = event.entry.revision;
      if (event.entry.key >= range.start && event.entry.key < range.end) events.push(event);
    }
    return { events, until: Infinity };
  }

  /** Forgets everything up to and including `revision`. */
  drop(revision: number): void {
    const first = this.#firstAfter(revision);
    for (const chunk of this.#chunks.splice(0, first.chunk)) this.#length -= chunk.length;
    this.#length -= this.#chunks[0]?.splice(0, first.at).length ?? 0;
  }

  *#from({ chunk, at }: Place): Generator<StoreEvent> {
    for (let c = chunk, from = at; c < this.#chunks.length; c++, from = 0) {
      const events = this.#chunks[c] ?? [];
      for (let i = from; i < events.length; i++) {
        const event = events[i];
        if (event !== undefined) yield event;
      }
    }
  }

  /** Where the first event after `revision` is, or would be. */
  #firstAfter(revision: number): Place {
    const chunk = countUpTo(this.#chunks.length, revision, (i) => revisionOf(this.#chunks[i]?.at(-1)));
    const events = this.#chunks[chunk] ?? [];
    return { chunk, at: countUpTo(events.length, revision, (i) => revisionOf(events[i])) };
  }
}

function revisionOf(event: StoreEvent | undefined): number {
  return event?.entry.revision ?? Infinity;
}

/** How many of `length` sorted items have a revision that is not above the given one. */
function countUpTo(length: number, revision: number, revisionAt: (i: number) => number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (revisionAt(middle) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
