/** How much history a store keeps; whichever bound is reached first. */
export interface RetentionLimits {
  ageMs: number;
  events: number;
  /** Of values that nothing but history keeps. */
  bytes: number;
}

export interface HistorySize {
  readonly revision: number;
  readonly compacted: number;
  readonly historyBytes: number;
}

export const DEFAULT_RETENTION: RetentionLimits = { ageMs: 5 * 60_000, events: 100_000, bytes: 256 << 20 };

/** How much one compaction forgets at most, so that it never holds up writes for long. */
const PACE = 2000;

/** Says up to which revision to forget. Times are milliseconds of any clock that does not go backwards. */
export class Retention {
  readonly #limits: RetentionLimits;
  /** The revision at the start of each slice of time, oldest first: a coarse age of every revision. */
  readonly #marks: { time: number; revision: number }[] = [];

  constructor(limits: Partial<RetentionLimits> = {}) {
    this.#limits = { ...DEFAULT_RETENTION, ...limits };
  }

  get ageMs(): number {
    return this.#limits.ageMs;
  }

  /** The revision to compact to now; undefined when nothing is due. Call it after writes, and while there are none: see Aging. */
  due(now: number, size: HistorySize): number | undefined {
    this.#mark(now, size.revision);
    const target = Math.min(
      Math.max(this.#tooOld(now), this.#tooMany(size)),
      size.compacted + PACE,
      size.revision,
    );
    return target > size.compacted ? target : undefined;
  }

  #mark(now: number, revision: number): void {
    const last = this.#marks[this.#marks.length - 1];
    const slice = Math.max(1, this.#limits.ageMs / 256);
    if (last === undefined || now - last.time >= slice) this.#marks.push({ time: now, revision });
  }

  /** A mark says that revisions up to its own are at least as old as it. */
  #tooOld(now: number): number {
    let second = this.#marks[1];
    while (second !== undefined && now - second.time > this.#limits.ageMs) {
      this.#marks.shift();
      second = this.#marks[1];
    }
    const first = this.#marks[0];
    return first !== undefined && now - first.time > this.#limits.ageMs ? first.revision : 0;
  }

  #tooMany({ revision, compacted, historyBytes }: HistorySize): number {
    if (historyBytes > this.#limits.bytes) return compacted + PACE;
    // Not for each event over the limit: a compaction is worth its write only when it forgets some.
    const over = revision - compacted - this.#limits.events;
    return over > Math.min(PACE, this.#limits.events / 10) ? revision - this.#limits.events : 0;
  }
}
