import { own } from './definitions.ts';
import { type Definition, type Family, figures, onPage } from './family.ts';
import { merged, remains } from './merge.ts';
import type { Metrics } from './metrics.ts';
import type { Remote } from './remote.ts';
import { type Page, pageOf } from './text.ts';

/** How long a process has to say what it counts; Prometheus gives a scrape ten seconds. */
const askMs = 2_000;

/**
 * What all processes of a server count together. One that does not answer in time is told as such, and counts with what it
 * said last; one that has ended goes on to count with that, so that no counter ever goes back.
 */
export class Scraper {
  readonly #own: Pick<Metrics, 'families'>;
  readonly #askMs: number;
  readonly #others = new Map<Remote, string>();
  #ended: Family[] = [];
  #scrape: Promise<Family[]> | undefined;

  constructor(own: Pick<Metrics, 'families'>, ms: number = askMs) {
    this.#own = own;
    this.#askMs = ms;
  }

  /** Answers its name. @param role one of several has a number behind it, the lowest that is free. */
  join(role: string, remote: Remote, several = false): string {
    const taken = new Set(this.#others.values());
    let name = role;
    for (let n = 1; several || taken.has(name); n++) {
      name = `${role}-${n}`;
      if (!taken.has(name)) break;
    }
    this.#others.set(remote, name);
    return name;
  }

  leave(remote: Remote): void {
    if (!this.#others.delete(remote)) return;
    this.#ended = remains(merged([this.#ended, remote.last]));
  }

  async page(accept: string | undefined, only?: Definition['page']): Promise<Page> {
    // Who asks at the same time gets the same.
    this.#scrape ??= this.#families().finally(() => {
      this.#scrape = undefined;
    });
    return pageOf(onPage(await this.#scrape, only), accept);
  }

  async #families(): Promise<Family[]> {
    const others = [...this.#others].filter(([remote]) => remote.ready);
    const asked = others.map(async ([remote, name]) => {
      const answered = await remote.asked(this.#askMs);
      return { remote, name, answered };
    });
    const [mine, ...theirs] = await Promise.all([this.#own.families(), ...asked]);
    const processes = figures(own.answered, [
      [['first'], 1],
      ...theirs.map(({ name, answered }) => [[name], answered ? 1 : 0] as const),
    ]);
    const parts = theirs
      // Who ended meanwhile is among those that ended.
      .filter(({ remote }) => this.#others.has(remote))
      .map(({ remote, answered }) => (answered ? remote.last : remains(remote.last)));
    return merged([mine, [processes], ...parts, this.#ended]);
  }
}
