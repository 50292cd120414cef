import type { Distribution } from '../../storage/measures.ts';
import { conversions } from './conversion-definitions.ts';
import { distributionOf, type Family, figures, spreads } from './family.ts';

/** What becomes of the reviews that conversion webhooks are sent. Whose they are is a tenant's to name, and not said. */
export class ConversionMetrics {
  readonly #durations = new Map<string, Distribution>();

  converted(seconds: number, failure = ''): void {
    let durations = this.#durations.get(failure);
    if (durations === undefined) {
      durations = distributionOf(conversions.durations);
      this.#durations.set(failure, durations);
    }
    durations.add(seconds);
  }

  families(): Family[] {
    const series = Array.from(
      this.#durations,
      ([failure, durations]) => [[failure === '' ? 'success' : 'failure', failure], durations] as const,
    );
    return [
      figures(
        conversions.requests,
        series.map(([result, { counts }]) => [result, counts.reduce((all, n) => all + n, 0)] as const),
      ),
      spreads(conversions.durations, series),
    ];
  }
}
