export interface Promised {
  replicas: number;
  maxUnavailable: number | string;
}

/** So long after a wish for fewer, or a failure, what is ready counts again: whatever it set off is over by then. */
const quietMs = 90_000;

/**
 * What no step of ours may take from one workload: as many pods that serve as its user asked for, less its maxUnavailable,
 * from the moment at which all of them were ready. A wish for fewer lowers it at once, pods that fail by themselves
 * suspend it.
 */
export class Floor {
  readonly maxUnavailable: number | string;
  readonly #app: string;
  readonly #what: string;
  #wanted: number;
  #promised = 0;
  #troubled = Number.NEGATIVE_INFINITY;

  /** `what`: which pods count. */
  constructor(app: string, what: string, { replicas, maxUnavailable }: Promised) {
    this.#app = app;
    this.#what = what;
    this.#wanted = replicas;
    this.maxUnavailable = maxUnavailable;
  }

  /** Nothing but our own steps may change what there is. */
  get isCalm(): boolean {
    return this.#promised > 0;
  }

  scale(to: number, now: number): void {
    // An older wish for fewer may still be on its way when a wish for more overtakes it.
    if (to < this.#wanted) this.#troubled = now;
    this.#wanted = to;
    this.#promised = Math.min(this.#promised, to);
  }

  /** It is made anew, or is no more. */
  begin(replicas: number, now: number): void {
    this.#wanted = replicas;
    this.trouble(now);
  }

  /** Pods of it fail by themselves, or are about to. */
  trouble(now: number): void {
    this.#troubled = now;
    this.#promised = 0;
  }

  /** A sentence when it was broken. */
  check(ready: number, now: number): string | undefined {
    const floor = this.#promised - this.#budget();
    if (ready < floor) {
      this.#promised = 0;
      return `${this.#app} has ${ready} ${this.#what}, and must not have fewer than ${floor} of ${this.#wanted}`;
    }
    if (ready >= this.#wanted && now - this.#troubled > quietMs) this.#promised = this.#wanted;
    return undefined;
  }

  #budget(): number {
    if (typeof this.maxUnavailable === 'number') return this.maxUnavailable;
    return Math.floor((Number.parseInt(this.maxUnavailable, 10) * this.#wanted) / 100);
  }
}
