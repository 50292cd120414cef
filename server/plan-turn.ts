import { StatusError } from '../kube/status.ts';
import { isTimeout, within } from '../kube/within.ts';

/** A copy that took too long once takes as long again: dry runs do not wait for it meanwhile. */
const restMs = 60_000;

/** One plan is made at a time in each process, and that which was asked for before those beside dry runs. */
export class PlanTurn {
  readonly #now: () => number;
  #isAsked = false;
  #beside: { abandon: AbortController; ended: Promise<unknown> } | undefined;
  #restsUntil = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** One that was asked for: one beside a dry run is abandoned for it. Throws StatusError 429 while there is another. */
  async asked<T>(make: () => Promise<T>): Promise<T> {
    if (this.#isAsked) throw new StatusError(429, 'TooManyRequests', 'another plan is being made; try again');
    this.#isAsked = true;
    try {
      this.#beside?.abandon.abort(new Error('another was asked for; try again'));
      await this.#beside?.ended;
      return await make();
    } finally {
      this.#isAsked = false;
    }
  }

  /** One beside a dry run, given up after `ms`. Throws an Error that says why there is none. */
  async beside<T>(ms: number, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isAsked || this.#beside) throw new Error('another is being made; try again');
    if (this.#now() < this.#restsUntil) throw new Error('the last one took too long; try again in a minute');
    const abandon = new AbortController();
    let given: AbortSignal | undefined;
    const made = within(ms, abandon.signal, (signal) => {
      given = signal;
      return make(signal);
    });
    this.#beside = { abandon, ended: Promise.allSettled([made]) };
    try {
      return await made;
    } catch (error) {
      if (given && isTimeout(given)) this.#restsUntil = this.#now() + restMs;
      throw error;
    } finally {
      this.#beside = undefined;
    }
  }
}
