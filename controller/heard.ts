interface Word {
  /** What was said last; the same again says nothing. */
  said: number;
  /** By `now`. */
  at: number;
  /** Since when without a break. */
  since: number;
}

/**
 * Who is there, of those who say so again and again. Goes by this side's clock and by what changes, not by the times that
 * others write: their clocks may be wrong.
 */
export class Heard {
  readonly #words = new Map<string, Word>();
  readonly #lostMs: number;
  readonly #settleMs: number;
  readonly #now: () => number;

  /**
   * Milliseconds: after how long without a word somebody counts as gone; for how long who comes must have been heard to
   * count as there, so that who comes and goes moves nothing.
   */
  constructor({ lostMs, settleMs, now = () => performance.now() }: HeardOptions) {
    this.#lostMs = lostMs;
    this.#settleMs = settleMs;
    this.#now = now;
  }

  /**
   * `agoMs`: how long ago it was said, of what was there before this side listened; that counts at once. By another's
   * clock: it may make somebody count as silent until the next word, and no more.
   */
  say(who: string, said: number, agoMs = 0): void {
    const now = this.#now();
    const before = this.#words.get(who);
    if (before?.said === said) return;
    const isNew = before === undefined || now - before.at > this.#lostMs;
    const wasThere = before === undefined && agoMs > 0;
    const since = wasThere ? now - this.#settleMs : isNew ? now : before.since;
    this.#words.set(who, { said, at: now - Math.min(agoMs, this.#lostMs + 1), since });
  }

  forget(who: string): void {
    this.#words.delete(who);
  }

  there(): string[] {
    const now = this.#now();
    return [...this.#words]
      .filter(([, { at, since }]) => now - at <= this.#lostMs && now - since >= this.#settleMs)
      .map(([who]) => who);
  }

  /** Of whom nothing was heard for so long. */
  gone(afterMs: number): string[] {
    const now = this.#now();
    return [...this.#words].filter(([, { at }]) => now - at > afterMs).map(([who]) => who);
  }
}

/**
 * Time in which this side could hear. It hears its own word like those of others; while that is missing, after a pause or
 * while the store is away, the silence of others says nothing. Between two own words at most `mostMs` pass.
 */
export class Hearing {
  readonly #mostMs: number;
  readonly #clock: () => number;
  #ms = 0;
  #last: number;

  constructor(mostMs: number, clock: () => number = () => performance.now()) {
    this.#mostMs = mostMs;
    this.#clock = clock;
    this.#last = clock();
  }

  readonly now = (): number => this.#ms + Math.min(this.#clock() - this.#last, this.#mostMs);

  heardSelf(): void {
    this.#ms = this.now();
    this.#last = this.#clock();
  }
}

export interface HeardOptions {
  lostMs: number;
  settleMs: number;
  /** Milliseconds that never go back. */
  now?: () => number;
}
