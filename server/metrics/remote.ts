import type { Family } from './family.ts';

/** What a process beside this one counts, as far as it has said so. */
export class Remote {
  /** Of the last time that it said so. */
  last: Family[] = [];
  /** Whether it can answer by now. */
  ready = false;
  readonly #ask: () => void;
  readonly #waiting = new Set<(answered: boolean) => void>();

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  heard(families: Family[]): void {
    this.last = families;
    this.ready = true;
    for (const answer of this.#waiting) answer(true);
  }

  /** Whether it answered in time; `last` is new then. */
  asked(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (answered: boolean) => {
        clearTimeout(late);
        this.#waiting.delete(answer);
        resolve(answered);
      };
      const late = setTimeout(answer, ms, false);
      this.#waiting.add(answer);
      this.#ask();
    });
  }
}
