import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { Random } from '../fault/random.ts';

type Run = () => void;

interface Due {
  at: number;
  /** Of two at the same time the one that was asked for first runs first. */
  order: number;
  run: Run | undefined;
}

const realImmediate = globalThis.setImmediate;
const begin = Date.parse('2030-01-01T00:00:00Z');

/**
 * Time that passes only when nobody has anything left to do, and chance that a seed decides. Must be installed before
 * any module that keeps `Date.now` or a timer of its own is loaded; of what waits for sockets, disks or threads it
 * knows nothing, so that nothing of that kind may be used while it runs.
 */
export class VirtualTime {
  #now = begin;
  #order = 0;
  readonly #heap: Due[] = [];
  /** What components draw: names, uids, jitter. */
  readonly #random: Random;
  /** How many callbacks ran. */
  steps = 0;

  constructor(seed: number) {
    this.#random = new Random(seed, 1);
  }

  /** Milliseconds since it began. */
  get elapsed(): number {
    return this.#now - begin;
  }

  after(ms: number, run: Run): Due {
    const due = { at: this.#now + Math.max(0, Number.isFinite(ms) ? ms : 0), order: this.#order++, run };
    this.#push(due);
    return due;
  }

  /** Runs what is due, one callback after the other, until `done`; `each` is called after every one. */
  async run(done: () => boolean, each: () => void = () => {}): Promise<void> {
    await allPromises();
    while (!done()) {
      const next = this.#pop();
      if (next === undefined) throw new Error('everybody waits, and nothing is due');
      this.#now = Math.max(this.#now, next.at);
      if (next.run === undefined) continue;
      this.steps++;
      next.run();
      await allPromises();
      each();
    }
  }

  /** Until `work` is done, of which each wait is virtual. */
  async until<T>(work: () => Promise<T>, each?: () => void): Promise<T> {
    let isOver = false;
    const result = work().finally(() => {
      isOver = true;
    });
    result.catch(() => {});
    await this.run(() => isOver, each);
    return await result;
  }

  /** In the place of everything in this process that tells the time or leaves something to chance. */
  install(): void {
    const now = () => this.#now;
    const elapsed = () => this.elapsed;
    const RealDate = globalThis.Date;
    class VirtualDate extends RealDate {
      constructor(...given: [] | [number | string]) {
        super(given[0] ?? now());
      }
      static override now = now;
    }
    const arm = (ms: number, run: Run, again: boolean) => this.#timer(ms, run, again);
    const setTimeout = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      arm(Math.max(1, ms), () => run(...args), false);
    const setInterval = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      arm(Math.max(1, ms), () => run(...args), true);
    const setImmediate = (run: (...args: unknown[]) => void, ...args: unknown[]) =>
      arm(0, () => run(...args), false);
    const clear = (timer: { cancel?(): void } | undefined) => timer?.cancel?.();
    const patch = { setTimeout, setInterval, setImmediate };
    const clearing = { clearTimeout: clear, clearInterval: clear, clearImmediate: clear };
    Object.assign(globalThis, patch, clearing, { Date: VirtualDate });
    Object.assign(timers, patch, clearing);
    Object.assign(timersPromises, {
      setTimeout: (ms?: number, value?: unknown) =>
        new Promise((resolve) => setTimeout(() => resolve(value), ms)),
      setImmediate: (value?: unknown) => new Promise((resolve) => setImmediate(() => resolve(value))),
    });
    performance.now = elapsed;
    this.#installChance();
    syncBuiltinESMExports();
  }

  #installChance(): void {
    const random = this.#random;
    const randomBytes = (size: number) =>
      Buffer.from(Array.from({ length: size }, () => random.bits() & 255));
    const randomUUID = () => {
      const hex = randomBytes(16).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    };
    const randomFillSync = (into: NodeJS.ArrayBufferView) => {
      const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
      bytes.set(randomBytes(bytes.length));
      return into;
    };
    const randomInt = (low: number, high?: number) =>
      high === undefined ? random.below(low) : low + random.below(high - low);
    Math.random = () => random.bits() / 2 ** 32;
    Object.assign(crypto, { randomBytes, randomFillSync, randomInt, randomUUID });
    globalThis.crypto.randomUUID = randomUUID as typeof globalThis.crypto.randomUUID;
  }

  #timer(ms: number, run: Run, again: boolean) {
    let due: Due;
    const start = () => {
      due = this.after(ms, () => {
        if (again) start();
        run();
      });
    };
    start();
    const timer = {
      cancel: () => {
        due.run = undefined;
      },
      refresh: () => {
        due.run = undefined;
        start();
        return timer;
      },
      ref: () => timer,
      unref: () => timer,
      hasRef: () => true,
    };
    return timer;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(due, heap[above] as Due)) break;
      heap[at] = heap[above] as Due;
      at = above;
    }
    heap[at] = due;
  }

  #pop(): Due | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Due, heap[below] as Due)) below++;
      if (!isBefore(heap[below] as Due, last)) break;
      heap[at] = heap[below] as Due;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Node runs every promise and tick that is ready before the next turn of its loop. */
function allPromises(): Promise<void> {
  return new Promise((resolve) => {
    realImmediate(resolve);
  });
}
