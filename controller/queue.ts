import { type Clock, systemClock } from '../kube/clock.ts';

export interface QueueOptions {
  clock?: Clock;
  /** First delay of addRateLimited; doubles with each failure of that key. Default 50. */
  baseDelayMs?: number;
  /** Default 300 000. */
  maxDelayMs?: number;
}

/**
 * Keys to work on. A key waits at most once however often it is added, and is with one worker at a time: added
 * while it is worked on, it waits until `done` and is then given out again. First come, first served.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #base: number;
  readonly #max: number;
  /** Waiting, in order. */
  readonly #waiting = new Set<string>();
  readonly #working = new Set<string>();
  /** Added while being worked on. */
  readonly #again = new Set<string>();
  readonly #later = new Map<string, { at: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<(key: string | undefined) => void>();
  #closed = false;

  constructor(options: QueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#base = options.baseDelayMs ?? 50;
    this.#max = options.maxDelayMs ?? 300_000;
  }

  /** Waiting now; not those that are delayed or being worked on. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Nothing waits, is delayed or is worked on. */
  get idle(): boolean {
    return this.#waiting.size + this.#working.size + this.#later.size === 0;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    const [taker] = this.#takers;
    if (taker === undefined) {
      this.#waiting.add(key);
      return;
    }
    this.#takers.delete(taker);
    this.#working.add(key);
    taker(key);
  }

  /** The earliest of several delays of one key wins. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.now() + ms;
    const earlier = this.#later.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.cancel();
    const cancel = this.#clock.after(ms, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { at, cancel });
  }

  /** After a failure: later each time, until `forget`, yet never later than `maxMs`. */
  addRateLimited(key: string, maxMs: number = this.#max): void {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(maxMs, this.#base * 2 ** Math.min(failures, 40)));
  }

  /** Since the last `forget`. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** It went well: the next failure is the first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, when there is one; the taker owes `done`. `undefined` once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      this.#working.add(key);
      return Promise.resolve(key);
    }
    return new Promise((resolve) => this.#takers.add(resolve));
  }

  done(key: string): void {
    this.#working.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  /** Nothing is given out any more, and what waits is dropped: keys are found again at the next start. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#waiting.clear();
    this.#again.clear();
    for (const taker of this.#takers) taker(undefined);
    this.#takers.clear();
  }
}
