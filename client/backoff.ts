export interface BackoffOptions {
  baseMs?: number;
  maxMs?: number;
  /** 0 <= random() < 1. */
  random?: () => number;
}

/** Doubling delays, each drawn from its upper half, so that clients that failed together do not return together. */
export class Backoff {
  #failures = 0;
  readonly #base: number;
  readonly #max: number;
  readonly #random: () => number;

  constructor(options: BackoffOptions = {}) {
    this.#base = options.baseMs ?? 100;
    this.#max = options.maxMs ?? 30_000;
    this.#random = options.random ?? Math.random;
  }

  next(): number {
    const full = Math.min(this.#max, this.#base * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return full * (0.5 + this.#random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
