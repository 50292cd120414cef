interface Departure {
  cluster: string;
  key: string;
  revision: number;
}

/** So many are remembered. */
const most = 8192;

/** Placements that a cluster had a share of and has no more, in the order in which they left it. */
export class Departures {
  readonly #all: Departure[] = [];
  /** Whatever left after it is remembered. */
  #remembered = 0;

  /** All that leave after this revision are noted. */
  begin(revision: number): void {
    this.#all.splice(0);
    this.#remembered = revision;
  }

  note(left: Departure): void {
    this.#all.push(left);
    if (this.#all.length <= most) return;
    const forgotten = this.#all.splice(0, most / 2);
    this.#remembered = forgotten.at(-1)?.revision ?? left.revision;
  }

  /** The keys of what left the cluster after `revision`; undefined: not known. */
  since(cluster: string, revision: number): string[] | undefined {
    if (revision < this.#remembered) return undefined;
    return this.#all
      .filter((left) => left.cluster === cluster && left.revision > revision)
      .map(({ key }) => key);
  }
}
