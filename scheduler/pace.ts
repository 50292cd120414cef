import { type Clock, systemClock } from '../kube/clock.ts';

/** A decision is about all that is in a namespace, so its changes are worth collecting: this share of the time at most. */
const share = 1 / 4;
/** What a namespace of an ordinary size takes is not worth a delay. */
const freeMs = 5;

/** When the next decision about each namespace may be made. A change to a quiet one never waits. */
export class Pace {
  readonly #clock: Clock;
  readonly #next = new Map<string, number>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Milliseconds to wait, 0 for none. */
  wait(key: string): number {
    const at = this.#next.get(key);
    return at === undefined ? 0 : Math.max(0, at - this.#clock.now());
  }

  /** A decision about the namespace took `ms` of this thread. */
  took(key: string, ms: number): void {
    if (ms > freeMs) this.#next.set(key, this.#clock.now() + ms / share - ms);
    else this.#next.delete(key);
  }
}
