import { type Family, figures } from './family.ts';
import { slis } from './sli-definitions.ts';

/** What came of the checks of health: their names are this server's own, so that they are few. */
export class CheckMetrics {
  readonly #last = new Map<string, { labels: string[]; value: number }>();
  readonly #all = new Map<string, { labels: string[]; count: number }>();

  checked(name: string, endpoint: string, good: boolean): void {
    this.#last.set(`${name} ${endpoint}`, { labels: [name, endpoint], value: good ? 1 : 0 });
    const labels = [name, good ? 'success' : 'error', endpoint];
    const known = this.#all.get(labels.join(' '));
    if (known) known.count++;
    else this.#all.set(labels.join(' '), { labels, count: 1 });
  }

  families(): Family[] {
    return [
      figures(
        slis.check,
        Array.from(this.#last.values(), ({ labels, value }) => [labels, value] as const),
      ),
      figures(
        slis.checks,
        Array.from(this.#all.values(), ({ labels, count }) => [labels, count] as const),
      ),
    ];
  }
}
