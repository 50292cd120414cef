import { type Family, figures } from './family.ts';
import { tracing } from './tracing-definitions.ts';

/** What became of spans, where requests are traced. */
export class TracingMetrics {
  /** Both from the start: whoever watches a counter sees it grow only from something on. */
  readonly #lost = new Map<string, number>([
    ['buffered', 0],
    ['receiver', 0],
  ]);
  #exported = 0;

  readonly exported = (count: number): void => {
    this.#exported += count;
  };

  readonly lost = (reason: string, count: number): void => {
    this.#lost.set(reason, (this.#lost.get(reason) ?? 0) + count);
  };

  families(): Family[] {
    return [
      figures(tracing.exported, [[[], this.#exported]]),
      figures(
        tracing.lost,
        Array.from(this.#lost, ([reason, count]) => [[reason], count] as const),
      ),
    ];
  }
}
