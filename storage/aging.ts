import { setImmediate } from 'node:timers/promises';

/** How many times it is looked while something grows as old as it may. */
const LOOKS = 16;

/**
 * Forgets what grows too old while nobody writes: retention is asked after each write, and a store at rest has none. Looks
 * again and again as long as there is history, and keeps no process alive.
 */
export class Aging {
  readonly #everyMs: number;
  readonly #hasHistory: () => boolean;
  readonly #forget: () => Promise<boolean> | boolean;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  /** @param forget forgets what is due, and says whether there was anything; must not fail. */
  constructor(ageMs: number, hasHistory: () => boolean, forget: () => Promise<boolean> | boolean) {
    this.#everyMs = Math.max(1, ageMs / LOOKS);
    this.#hasHistory = hasHistory;
    this.#forget = forget;
  }

  /** There may be history now. */
  wake(): void {
    if (this.#timer !== undefined || this.#hasEnded || !this.#hasHistory()) return;
    this.#timer = setTimeout(() => void this.#look(), this.#everyMs);
    this.#timer.unref();
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  /** One step is short; between two whoever waits goes first. */
  async #look(): Promise<void> {
    while (!this.#hasEnded && (await this.#forget())) await setImmediate();
    this.#timer = undefined;
    this.wake();
  }
}
