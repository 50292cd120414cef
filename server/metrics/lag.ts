import { createHistogram } from 'node:perf_hooks';
import { gauge } from './define.ts';
import type { Definition, Family } from './family.ts';

/** Each look wakes a process that has nothing to do, which costs as much as a request. */
const everyMs = 200;
const longestSeconds = 3600;

/** Names and words are prom-client's. Of several processes the slowest counts. */
const definitions = {
  min: of('min', 'The minimum recorded event loop delay.'),
  max: of('max', 'The maximum recorded event loop delay.'),
  mean: of('mean', 'The mean of the recorded event loop delays.'),
  stddev: of('stddev', 'The standard deviation of the recorded event loop delays.'),
  p50: of('p50', 'The 50th percentile of the recorded event loop delays.'),
  p90: of('p90', 'The 90th percentile of the recorded event loop delays.'),
  p99: of('p99', 'The 99th percentile of the recorded event loop delays.'),
};
type Figure = keyof typeof definitions;

export const lagNames: readonly string[] = Object.values(definitions).map(({ name }) => name);

/** How late a timer is called, since it was asked last; what a process stands still for is seen to that interval. */
export class Lag {
  readonly #late = createHistogram({ highest: longestSeconds * 1e9 });
  readonly #now: () => number;
  #due = 0;
  #told: Record<Figure, number> = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 };

  /** @param now milliseconds that only pass. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** For as long as the process lives, which it does not keep alive. */
  start(): void {
    this.#due = this.#now() + everyMs;
    setInterval(() => this.#look(), everyMs).unref();
  }

  /** Asked twice within an interval it tells the same. */
  families(): Family[] {
    const late = this.#late;
    if (late.count > 0) {
      const { min, max, mean, stddev } = late;
      const [p50, p90, p99] = [late.percentile(50), late.percentile(90), late.percentile(99)];
      this.#told = { min, max, mean, stddev, p50, p90, p99 };
      late.reset();
    }
    return Object.entries(this.#told).map(([figure, nanoseconds]) => ({
      definition: definitions[figure as Figure],
      figures: [{ labels: [], value: nanoseconds / 1e9 }],
      spreads: [],
    }));
  }

  #look(): void {
    const now = this.#now();
    const late = Math.min(now - this.#due, longestSeconds * 1000);
    // Less than a nanosecond cannot be recorded.
    this.#late.record(Math.max(1, Math.round(late * 1e6)));
    this.#due = now + everyMs;
  }
}

function of(figure: string, help: string): Definition {
  return gauge(`nodejs_eventloop_lag_${figure}_seconds`, help, [], 'max');
}
