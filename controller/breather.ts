/** Leases are renewed, questions answered and sockets read in between. */
const mostMs = 10;
/** For so long others stand back, and for so many times as long as they did nobody asks them to again. */
const longestHeldMs = 5_000;
const restTimes = 4;

/**
 * Who takes a key next of all controllers in a process.
 *
 * Keys of which all is known already wait for nothing outside: each would follow the one before, and of thousands, as when a server starts,
 * the last be done before the process did anything else. So whoever takes many in a row pauses.
 *
 * A decision about very many is written before anybody acts on the first of them: else each of its writes would wait for all that follows from
 * those before it. So others stand back for it.
 */
export class Breather {
  /** This turn of the event loop; undefined: nobody has taken anything in it. */
  #began: number | undefined;
  #next: Promise<void> | undefined;
  #held: Promise<void> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;
  readonly #mostHeldMs: number;

  constructor({ mostHeldMs = longestHeldMs }: { mostHeldMs?: number } = {}) {
    this.#mostHeldMs = mostHeldMs;
  }

  /** Until the event loop has gone round; undefined: there is still time. */
  pause(): Promise<void> | undefined {
    if (this.#next) return this.#next;
    const now = performance.now();
    if (this.#began === undefined) {
      this.#began = now;
      setImmediate(() => {
        this.#began = undefined;
      });
      return undefined;
    }
    if (now - this.#began < mostMs) return undefined;
    this.#next = new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }

  /** Until others need stand back no more; undefined: they need not. */
  get held(): Promise<void> | undefined {
    return this.#held;
  }

  /** Others stand back for `work`, but for those who were asked to a short time ago. */
  async before<T>(work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    if (this.#held || from < this.#notBefore) return await work();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = () => {
        clearTimeout(timer);
        if (this.#held !== held) return;
        const until = performance.now();
        this.#held = undefined;
        this.#notBefore = until + restTimes * (until - from);
        resolve();
      };
    });
    const timer = setTimeout(release, this.#mostHeldMs);
    this.#held = held;
    try {
      return await work();
    } finally {
      release();
    }
  }
}

/** Of this process. */
export const breather = new Breather();
