/** What a store tells of itself to whoever looks after it; asked seldom. */
export interface Measures {
  watchers: Watchers;
  /** Writes that were accepted, whose outcome is not known yet. */
  pending: number;
  /** Seconds until what was written together was durable. */
  commits: Distribution;
  /** Of its files; undefined where it cannot tell. */
  bytes: number | undefined;
}

export interface Watchers {
  /** They get each commit as it happens. */
  live: number;
  /** They read history, or their reader takes its time. */
  behind: number;
}

/** Of a commit: a fast disk takes a fraction of a millisecond, one that stands still seconds. */
export const commitBounds: readonly number[] = [
  0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8,
];

/** How many of what was measured came to no more than each bound, and what it was in all. */
export class Distribution {
  readonly bounds: readonly number[];
  /** Between two bounds; the last one: beyond all. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++;
    counts[at] = (counts[at] ?? 0) + 1;
    this.sum += value;
  }
}
