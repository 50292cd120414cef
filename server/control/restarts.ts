const firstMs = 1000;
const mostMs = 30_000;
/** Of one that has lived so long it is not to be expected that the next one ends at once. */
const livedMs = 10_000;

/** How long nobody starts a process after one ended: each that could not even begin makes the next one wait twice as long. */
export class Restarts {
  #nextMs = firstMs;

  /** @param ranMs how long the one that ended had run. */
  after(ranMs: number): number {
    if (ranMs >= livedMs) this.#nextMs = firstMs;
    const wait = this.#nextMs;
    this.#nextMs = Math.min(wait * 2, mostMs);
    return wait;
  }
}
