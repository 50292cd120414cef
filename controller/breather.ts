/** Leases are renewed, questions answered and sockets read in between. */
const mostMs = 10;

/**
 * Keys of which all is known already wait for nothing outside: each would follow the one before, and of thousands, as when a server starts,
 * the last be done before the process did anything else. So whoever takes many in a row pauses. Shared by all in a process.
 */
export class Breather {
  /** This turn of the event loop; undefined: nobody has taken anything in it. */
  #began: number | undefined;
  #next: Promise<void> | undefined;

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
}
