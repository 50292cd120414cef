import type { PluginObserver } from '../../apiserver/encryption/kms/plugin.ts';
import type { Distribution } from '../../storage/measures.ts';
import { encryption } from './encryption-definitions.ts';
import { distributionOf, type Family, figures, spreads } from './family.ts';

/** Calls of KMS plugins; the administrator's file bounds how many. */
export class EncryptionMetrics implements PluginObserver {
  readonly #calls = new Map<string, { labels: readonly string[]; durations: Distribution }>();
  readonly #invalid = new Map<string, { labels: readonly string[]; count: number }>();
  readonly #seeds = new Map<string, number>();

  called(...[provider, method, seconds, code]: Parameters<PluginObserver['called']>): void {
    const labels = [provider, method, code];
    const key = labels.join(' ');
    let series = this.#calls.get(key);
    if (series === undefined) {
      series = { labels, durations: distributionOf(encryption.calls) };
      this.#calls.set(key, series);
    }
    series.durations.add(seconds);
  }

  invalidKeyId(...labels: Parameters<PluginObserver['invalidKeyId']>): void {
    const key = labels.join(' ');
    this.#invalid.set(key, { labels, count: (this.#invalid.get(key)?.count ?? 0) + 1 });
  }

  cached(provider: string, seeds: number): void {
    this.#seeds.set(provider, seeds);
  }

  families(): Family[] {
    return [
      spreads(
        encryption.calls,
        Array.from(this.#calls.values(), ({ labels, durations }) => [labels, durations] as const),
      ),
      figures(
        encryption.invalidKeyIds,
        Array.from(this.#invalid.values(), ({ labels, count }) => [labels, count] as const),
      ),
      figures(
        encryption.seeds,
        Array.from(this.#seeds, ([provider, count]) => [[provider], count] as const),
      ),
    ];
  }
}
