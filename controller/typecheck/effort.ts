import type { Later } from '../../kube/later.ts';
import { othersFirst } from '../../kube/others-first.ts';

/** Milliseconds of own work, between two turns of others and of one check altogether. */
const perTurn = 10;
const mostWork = 3000;
/** One expression takes no longer: what more passes without a turn is a process that stood still. */
const mostStretch = 1500;

/** What is found by now is all there will be. */
export class OutOfTime extends Error {}

/** Nobody waits for what is found. */
export class Unwanted extends Error {}

export interface EffortOptions {
  /** The logical cluster whose it is. */
  cluster: string;
  isWanted(): boolean;
  now?: () => number;
}

/** What one check takes of the process. What it waits for is not counted. */
export class Effort {
  readonly #options: EffortOptions;
  readonly #now: () => number;
  /** Of the turns before. */
  #spent = 0;
  #since: number;

  constructor(options: EffortOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#since = this.#now();
  }

  /** Between any two parts of the work: whoever else waits goes first, where those before took long. Throws OutOfTime, Unwanted. */
  turn(): Later<void> {
    if (this.#now() - this.#since >= perTurn) return this.#others();
  }

  async #others(): Promise<void> {
    await this.aside(othersFirst(this.#options.cluster));
    if (this.#spent > mostWork) throw new OutOfTime();
  }

  /** Waits for what others do. Throws what they throw, Unwanted. */
  async aside<T>(work: Promise<T>): Promise<T> {
    this.#spent += Math.min(this.#now() - this.#since, mostStretch);
    let done: T;
    try {
      done = await work;
    } finally {
      this.#since = this.#now();
    }
    if (!this.#options.isWanted()) throw new Unwanted();
    return done;
  }
}
