import { type Clock, systemClock, ticksOf } from './clock.ts';

/** What waits for less than so many rounds is called when it said. */
const leastRounds = 5;
/** What is due may be called so much of its time sooner: it goes where the fewest are. */
const mostEarlier = 0.1;
/** What waits for so many rounds goes into one of so many, and may be called sooner for it: what a few do at a time costs each of them more. */
const longRounds = 20;
const apartRounds = 5;
const mostEarlierOfLong = 0.25;

/**
 * Timers of many that need not be exact: all of a round are called in one turn. A thousand timers by themselves wake the process a
 * thousand times. Whoever waits is called up to a round later than it said, or a tenth sooner, a quarter of what waits
 * for long, so that those who were called together, after a pause of the process for one, are spread again.
 */
export class Rounds implements Clock {
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #due = new Map<number, Set<() => void>>();
  /** Counted, not told by a clock that somebody may set. */
  #round = 0;
  #isTicking = false;

  constructor(everyMs = 1_000, clock: Clock = systemClock) {
    this.#everyMs = everyMs;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  ticks(): number {
    return ticksOf(this.#clock);
  }

  after(ms: number, run: () => void): () => void {
    const rounds = Math.ceil(ms / this.#everyMs);
    if (rounds < leastRounds) return this.#clock.after(ms, run);
    const calls = this.#emptiest(rounds);
    // The same function may wait several times.
    const call = () => run();
    calls.add(call);
    if (!this.#isTicking) this.#tick();
    return () => calls.delete(call);
  }

  #emptiest(rounds: number): Set<() => void> {
    const last = this.#round + rounds;
    const isLong = rounds >= longRounds;
    const [apart, earlier] = isLong ? [apartRounds, mostEarlierOfLong] : [1, mostEarlier];
    const latest = last - (last % apart);
    let best = latest;
    for (let at = latest; at >= last - rounds * earlier; at -= apart)
      if ((this.#due.get(at)?.size ?? 0) < (this.#due.get(best)?.size ?? 0)) best = at;
    const calls = this.#due.get(best) ?? new Set();
    this.#due.set(best, calls);
    return calls;
  }

  #tick(): void {
    this.#isTicking = true;
    this.#clock.after(this.#everyMs, () => {
      this.#round++;
      const calls = this.#due.get(this.#round);
      this.#due.delete(this.#round);
      this.#isTicking = this.#due.size > 0;
      if (this.#isTicking) this.#tick();
      for (const call of calls ?? []) call();
    });
  }
}
