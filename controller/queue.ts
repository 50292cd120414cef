import { type Clock, systemClock, ticksOf } from '../kube/clock.ts';
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

class Keys {
  /** Whose the waiting keys are. */
  readonly waiting = new Map<string, string>();
  /** The same by party, in order: the parties' of their turns, the keys' of their arrival. */
  readonly parties = new Map<string, Set<string>>();
  /** Whose they are. */
  readonly working = new Map<string, string>();
  readonly busy = new Map<string, number>();
  /** Added while being worked on. */
  readonly again = new Set<string>();
  readonly later = new Map<string, { at: number; cancel: () => void }>();
  readonly failures = new Map<string, number>();
  /** Failed for want of an answer; true: tried again since, on the word that there are answers. */
  readonly unheard = new Map<string, boolean>();
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
  /** Undefined until there is a first key: a cluster has twenty queues, and while it has nothing of ours they are all empty. */
  #keys: Keys | undefined;
  /** In order. */
  readonly #takers: ((key: string | undefined) => void)[] = [];
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
    return this.#keys?.waiting.size ?? 0;
  }

  /** Nothing waits, is delayed or is worked on. */
  get idle(): boolean {
    const keys = this.#keys;
    return keys === undefined || keys.waiting.size + keys.working.size + keys.later.size === 0;
  }

  add(key: string): void {
    if (this.#closed) return;
    const { working, again, waiting, parties } = this.#made();
    if (working.has(key)) {
      again.add(key);
      return;
    }
    if (waiting.has(key)) return;
    const party = this.#fair.partyOf(key);
    waiting.set(key, party);
    this.observer?.added(key);
    const keys = parties.get(party);
    if (keys) keys.add(key);
    else parties.set(party, new Set([key]));
    this.#giveOut();
  }

  /** The earliest of several delays of one key wins. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const { later } = this.#made();
    const at = ticksOf(this.#clock) + ms;
    const earlier = later.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.cancel();
    const cancel = this.#clock.after(ms, () => {
      later.delete(key);
      this.add(key);
    });
    later.set(key, { at, cancel });
  }

  /**
   * What was put off until later is done with what is done now. So is what came since the key was given out: to be called before anything is read.
   */
  overtake(key: string): void {
    this.#keys?.later.get(key)?.cancel();
    this.#keys?.later.delete(key);
    this.#keys?.again.delete(key);
  }

  /** After a failure: later each time, until `forget`, yet never later than `maxMs`, nor sooner than `leastMs`. */
  addRateLimited(key: string, maxMs: number = this.#max, leastMs = 0): void {
    const failures = this.failures(key);
    this.#made().failures.set(key, failures + 1);
    this.observer?.retried();
    this.addAfter(key, Math.max(leastMs, Math.min(maxMs, this.#base * 2 ** Math.min(failures, 40))));
  }

  /** Of what failed: whether nobody was heard. */
  noteHeard(key: string, isHeard: boolean): void {
    const { unheard } = this.#made();
    if (isHeard) unheard.delete(key);
    else if (!unheard.has(key)) unheard.set(key, false);
  }

  /**
   * There are answers: what waits since it got none is given out now. Once, since it may be another one that does not answer, until
   * `isBack`: there were none for a while.
   */
  hurry(isBack: boolean): void {
    if (!this.#keys) return;
    const { unheard, later: all, failures } = this.#keys;
    for (const [key, wasHurried] of unheard) {
      const later = all.get(key);
      if (!later || (wasHurried && !isBack)) continue;
      if (isBack) failures.delete(key);
      unheard.set(key, true);
      later.cancel();
      all.delete(key);
      this.add(key);
    }
  }

  /** Since the last `forget`. */
  failures(key: string): number {
    return this.#keys?.failures.get(key) ?? 0;
  }

  /** It went well: the next failure is the first. */
  forget(key: string): void {
    this.#keys?.failures.delete(key);
    this.#keys?.unheard.delete(key);
  }

  /** The next key, when there is one; the taker owes `done`. `undefined` once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const taken = new Promise<string | undefined>((resolve) => this.#takers.push(resolve));
    this.#giveOut();
    return taken;
  }

  done(key: string): void {
    const { working, busy, again } = this.#made();
    const party = working.get(key);
    working.delete(key);
    this.observer?.done(key);
    if (party !== undefined) {
      const others = (busy.get(party) ?? 1) - 1;
      if (others > 0) busy.set(party, others);
      else busy.delete(party);
    }
    if (again.delete(key)) this.add(key);
    this.#giveOut();
  }

  #giveOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#next();
      if (key === undefined) return;
      this.#takers.shift()?.(key);
    }
  }

  /** Of the first party in turn that may have one more; its next turn is after the others'. */
  #next(): string | undefined {
    if (!this.#keys) return undefined;
    const { parties, waiting, working, busy } = this.#keys;
    for (const [party, keys] of parties) {
      const underWay = busy.get(party) ?? 0;
      if (underWay >= this.#fair.most) continue;
      const [key = ''] = keys;
      keys.delete(key);
      parties.delete(party);
      if (keys.size > 0) parties.set(party, keys);
      waiting.delete(key);
      working.set(key, party);
      this.observer?.taken(key);
      busy.set(party, underWay + 1);
      return key;
    }
    return undefined;
  }

  #made(): Keys {
    this.#keys ??= new Keys();
    return this.#keys;
  }

  /** Nothing is given out any more, and what waits is dropped: keys are found again at the next start. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#keys?.later.values() ?? []) cancel();
    this.#keys?.later.clear();
    this.#keys?.waiting.clear();
    this.#keys?.parties.clear();
    this.#keys?.again.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
