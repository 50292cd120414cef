import { own } from './definitions.ts';
import { type Definition, figures, onPage } from './family.ts';
import type { Metrics } from './metrics.ts';
import { type Page, pageOf } from './text.ts';

type Only = Definition['page'];

interface Question {
  id: number;
  accept: string;
  only?: 'slis';
}

/** Longer than the first process waits for the others. */
const patienceMs = 5_000;

/** A process beside the first one, which is scraped: the first knows what all of them count. */
export class Relay {
  readonly #own: Metrics;
  readonly #ask: (question: Question) => void;
  readonly #waiting = new Map<number, (page: Page) => void>();
  #asked = 0;

  constructor(own: Metrics, ask: (question: Question) => void) {
    this.#own = own;
    this.#ask = ask;
  }

  answered(id: number, page: Page): void {
    this.#waiting.get(id)?.(page);
  }

  async page(accept: string | undefined, only?: Only): Promise<Page> {
    const id = ++this.#asked;
    const page = await new Promise<Page | undefined>((resolve) => {
      const late = setTimeout(resolve, patienceMs, undefined);
      this.#waiting.set(id, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      this.#ask({ id, accept: accept ?? '', ...(only && { only }) });
    });
    this.#waiting.delete(id);
    return page ?? this.#alone(accept, only);
  }

  /** The first one is stuck, which is worth knowing. Counters of one process would be a step back from those of all. */
  async #alone(accept: string | undefined, only: Only): Promise<Page> {
    const processes = figures(own.answered, [[['first'], 0]]);
    const gauges = (await this.#own.families()).filter(({ definition: { type } }) => type === 'gauge');
    return pageOf(onPage([...gauges, processes], only), accept);
  }
}
