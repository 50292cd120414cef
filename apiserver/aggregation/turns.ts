/** So many requests of a logical cluster are passed on at a time, and so many that last: who hangs keeps nobody else from asking. */
const most = { short: 64, lasting: 256 };

/** How many requests of each logical cluster are under way to its own API servers. Nobody waits: there is room, or none. */
export class UnderWay {
  readonly #most: typeof most;
  readonly #counts = new Map<string, number>();

  constructor(limits = most) {
    this.#most = limits;
  }

  /** What gives it back, once; undefined: there is no room. */
  take(cluster: string, lasts: boolean): (() => void) | undefined {
    const key = `${lasts ? 'lasting' : 'short'} ${cluster}`;
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#most[lasts ? 'lasting' : 'short']) return undefined;
    this.#counts.set(key, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
