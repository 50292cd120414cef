import type { Store } from '../../../storage/store.ts';

const tickMillis = 5_000;

export interface BookmarkTarget {
  /** Called about once a minute with a revision up to which every event was handed over. */
  bookmark(revision: number): void;
  /** Of one that is handed all before the store says that it is at its revision: the same at any time. */
  progress?(revision: number): void;
}

/**
 * One timer for every watch's bookmarks. A tick offers the revision of the tick before: whatever was committed by
 * then has been delivered since.
 */
export class BookmarkClock {
  readonly #store: Store;
  readonly #due = new Map<BookmarkTarget, number>();
  readonly #period: number;
  #timer: NodeJS.Timeout | undefined;
  #settled: number | undefined;

  constructor(store: Store, periodMillis = 60_000) {
    this.#store = store;
    this.#period = periodMillis;
  }

  add(target: BookmarkTarget): () => void {
    this.#due.set(target, performance.now() + this.#period);
    if (this.#timer === undefined) {
      this.#settled = undefined;
      this.#timer = setInterval(() => this.#tick(), Math.min(tickMillis, this.#period));
      this.#timer.unref();
    }
    return () => this.#remove(target);
  }

  /** At once, where that can be. */
  tell(): void {
    // What is visible now was handed over: sinks run before anything else gets its turn.
    setImmediate(() => {
      const { revision } = this.#store;
      for (const target of this.#due.keys()) target.progress?.(revision);
    });
  }

  #remove(target: BookmarkTarget): void {
    this.#due.delete(target);
    if (this.#due.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const settled = this.#settled;
    this.#settled = this.#store.revision;
    if (settled === undefined) return;
    const now = performance.now();
    for (const [target, at] of this.#due) {
      if (at > now) continue;
      this.#due.set(target, now + this.#period);
      target.bookmark(settled);
    }
  }
}
