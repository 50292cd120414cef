/** Between the writes of a server that is busy, in which another comes by its own: more of it while others do write. */
const leastPauseMs = 8;
const mostPauseMs = 40;
/** After so much work without such a pause one is made, whoever else there is: who never comes by is never seen. */
const busyMs = 200;
/** More namespaces are not charged at a time; whose pace is forgotten begins anew. */
const mostKnown = 1000;

/** What this server wrote last of each quota of a namespace, by which it sees whether others do, too. */
export class Versions {
  readonly #written = new Map<string, string | undefined>();
  #alone = true;

  wrote(name: string, version: string | undefined): void {
    this.#written.set(name, version);
  }

  saw(name: string, version: string | undefined): void {
    if (this.#written.has(name) && this.#written.get(name) !== version) this.#alone = false;
  }

  /** Since this was asked last. */
  areAlone(): boolean {
    const answer = this.#alone;
    this.#alone = true;
    return answer;
  }
}

/** How much room a server leaves in one namespace to others, who may need longer for a charge. Times in milliseconds. */
class Pace {
  readonly own = new Versions();
  readonly #now: () => number;
  #pause = leastPauseMs;
  /** Since when there was no room for longer than a pause. */
  #busySince = Number.NEGATIVE_INFINITY;
  #ended = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begins(): void {
    if (this.#now() - this.#ended >= mostPauseMs) this.#busySince = this.#now();
  }

  /** How long to leave it to others after charges that went together; 0: not at all. */
  pauseAfter(charges: number): number {
    this.#ended = this.#now();
    const alone = this.own.areAlone();
    this.#pause = alone ? Math.max(leastPauseMs, this.#pause / 2) : Math.min(mostPauseMs, this.#pause * 2);
    if (this.#ended - this.#busySince >= busyMs) {
      this.#busySince = this.#ended;
      return mostPauseMs;
    }
    // Of many the more wait, and go together.
    return charges > 1 || !alone ? this.#pause : 0;
  }
}

/** By namespace, those charged last. */
export class Paces {
  readonly #known = new Map<string, Pace>();

  of(key: string): Pace {
    const known = this.#known.get(key) ?? new Pace();
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKnown) break;
      this.#known.delete(oldest);
    }
    return known;
  }
}
