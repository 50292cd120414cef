import { type Clock, systemClock } from '../kube/clock.ts';
import type { QueueObserver } from './observer.ts';

export interface QueueOptions {
  clock?: Clock;
  /** First delay of addRateLimited; doubles with each failure of that key. Default 50. */
  baseDelayMs?: number;
  /** Default 300 000. */
  maxDelayMs?: number;
  /** Absent: all keys are one party's. */
  fair?: Fairness;
}

/** Many parties share one queue: each gets its turn, and none more than its part of what is under way. */
export interface Fairness {
  /** Whose a key is, by the time it is added. */
  partyOf(key: string): string;
  /** How many keys of one party are worked on at a time. */
  most: number;
}

/**
 * Keys to work on. A key waits at most once however often it is added, and is with one worker at a time: added
 * while it is worked on, it waits until `done` and is then given out again. First come, first served among the keys
 * of one party; the parties take turns.
 */
export class WorkQueue {
  /** No party can have more than so much under way: what takes long needs no worker. */
  readonly isFair: boolean;
  readonly #clock: Clock;
  readonly #base: number;
  readonly #max: number;
  readonly #fair: Fairness;
  /** Whose the waiting keys are. */
  readonly #waiting = new Map<string, string>();
  /** The same by party, in order: the parties' of their turns, the keys' of their arrival. */
  readonly #parties = new Map<string, Set<string>>();
  /** Whose they are. */
  readonly #working = new Map<string, string>();
  readonly #busy = new Map<string, number>();
  /** Added while being worked on. */
  readonly #again = new Set<string>();
  readonly #later = new Map<string, { at: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  /** Failed for want of an answer; true: tried again since, on the word that there are answers. */
  readonly #unheard = new Map<string, boolean>();
  readonly #takers = new Set<(key: string | undefined) => void>();
  #closed = false;
  /** From when on somebody is told. */
  observer: QueueObserver | undefined;

  constructor(options: QueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#base = options.baseDelayMs ?? 50;
    this.#max = options.maxDelayMs ?? 300_000;
    this.#fair = options.fair ?? { partyOf: () => '', most: Number.POSITIVE_INFINITY };
    this.isFair = options.fair !== undefined;
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
    if (this.#waiting.has(key)) return;
    const party = this.#fair.partyOf(key);
    this.#waiting.set(key, party);
    this.observer?.added(key);
    const keys = this.#parties.get(party);
    if (keys) keys.add(key);
    else this.#parties.set(party, new Set([key]));
    this.#giveOut();
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

  /** What was put off until later is done with what is done now. */
  overtake(key: string): void {
    this.#later.get(key)?.cancel();
    this.#later.delete(key);
  }

  /** After a failure: later each time, until `forget`, yet never later than `maxMs`, nor sooner than `leastMs`. */
  addRateLimited(key: string, maxMs: number = this.#max, leastMs = 0): void {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    this.observer?.retried();
    this.addAfter(key, Math.max(leastMs, Math.min(maxMs, this.#base * 2 ** Math.min(failures, 40))));
  }

  /** Of what failed: whether nobody was heard. */
  noteHeard(key: string, isHeard: boolean): void {
    if (isHeard) this.#unheard.delete(key);
    else if (!this.#unheard.has(key)) this.#unheard.set(key, false);
  }

  /**
   * There are answers: what waits since it got none is given out now. Once, since it may be another one that does not answer, until
   * `isBack`: there were none for a while.
   */
  hurry(isBack: boolean): void {
    for (const [key, wasHurried] of this.#unheard) {
      const later = this.#later.get(key);
      if (!later || (wasHurried && !isBack)) continue;
      if (isBack) this.#failures.delete(key);
      this.#unheard.set(key, true);
      later.cancel();
      this.#later.delete(key);
      this.add(key);
    }
  }

  /** Since the last `forget`. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** It went well: the next failure is the first. */
  forget(key: string): void {
    this.#failures.delete(key);
    this.#unheard.delete(key);
  }

  /** The next key, when there is one; the taker owes `done`. `undefined` once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const taken = new Promise<string | undefined>((resolve) => this.#takers.add(resolve));
    this.#giveOut();
    return taken;
  }

  done(key: string): void {
    const party = this.#working.get(key);
    this.#working.delete(key);
    this.observer?.done(key);
    if (party !== undefined) {
      const others = (this.#busy.get(party) ?? 1) - 1;
      if (others > 0) this.#busy.set(party, others);
      else this.#busy.delete(party);
    }
    if (this.#again.delete(key)) this.add(key);
    this.#giveOut();
  }

  #giveOut(): void {
    for (const taker of this.#takers) {
      const key = this.#next();
      if (key === undefined) return;
      this.#takers.delete(taker);
      taker(key);
    }
  }

  /** Of the first party in turn that may have one more; its next turn is after the others'. */
  #next(): string | undefined {
    for (const [party, keys] of this.#parties) {
      const busy = this.#busy.get(party) ?? 0;
      if (busy >= this.#fair.most) continue;
      const [key = ''] = keys;
      keys.delete(key);
      this.#parties.delete(party);
      if (keys.size > 0) this.#parties.set(party, keys);
      this.#waiting.delete(key);
      this.#working.set(key, party);
      this.observer?.taken(key);
      this.#busy.set(party, busy + 1);
      return key;
    }
    return undefined;
  }

  /** Nothing is given out any more, and what waits is dropped: keys are found again at the next start. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    this.#waiting.clear();
    this.#parties.clear();
    this.#again.clear();
    for (const taker of this.#takers) taker(undefined);
    this.#takers.clear();
  }
}
