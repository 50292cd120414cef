/** So many at a time; the others wait in the order in which they came. */
export class Slots {
  readonly #most: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
    this.#free = most;
  }

  /** Resolves to what gives it back, once. Rejects with the signal's reason, and then has taken none. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    };
  }

  /** Nobody has one, and nobody waits for one. */
  get areIdle(): boolean {
    return this.#free === this.#most;
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(come);
        signal.removeEventListener('abort', abort);
      };
      const come = () => {
        leave();
        resolve();
      };
      const abort = () => {
        leave();
        reject(signal.reason);
      };
      this.#waiting.add(come);
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}
