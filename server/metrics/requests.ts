import type { Observer, Outcome, Side } from '../../apiserver/observer.ts';
import type { RequestInfo } from '../../apiserver/request.ts';
import type { ApiRequest } from '../../kube/http.ts';
import { CheckMetrics } from './checks.ts';
import { ConversionMetrics } from './conversions.ts';
import { borrowed, own } from './definitions.ts';
import { FairnessMetrics } from './fairness.ts';
import { type Family, figures, spreads } from './family.ts';
import { Kinds } from './kinds.ts';
import { type Series, seriesFor } from './series.ts';

/** What requests come to. On the way of each: a few lookups, and no text is made once its labels are known. */
export class RequestMetrics implements Observer {
  readonly fairness: FairnessMetrics = new FairnessMetrics();
  readonly #checks = new CheckMetrics();
  readonly #conversions = new ConversionMetrics();
  readonly #kinds = new Kinds();
  readonly #inFlight = { read: new Peak(), write: new Peak() };
  readonly #watching = new Map<string, { labels: string[]; count: number }>();
  #cut = 0;

  answered(request: ApiRequest, info: RequestInfo | undefined, { code, bytes, seconds }: Outcome): void {
    const series = this.#series(request, info);
    series.codes.add(code);
    series.durations.add(seconds);
    if (bytes !== undefined) series.sizes?.add(bytes);
  }

  lasts(request: ApiRequest, info: RequestInfo): () => void {
    const series = this.#series(request, info);
    series.lasting = (series.lasting ?? 0) + 1;
    return () => {
      series.lasting = (series.lasting ?? 1) - 1;
    };
  }

  terminated(request: ApiRequest, info: RequestInfo, code: number): void {
    this.#series(request, info).terminations.add(code);
  }

  atWork(side: Side, count: number): void {
    this.#inFlight[side].set(count);
  }

  watching(info: RequestInfo): { count: number } {
    const { group, version, resource } = this.#kinds.of(info);
    const labels = [group, version, resource];
    const key = labels.join('/');
    const known = this.#watching.get(key);
    if (known !== undefined) return known;
    const fresh = { labels, count: 0 };
    this.#watching.set(key, fresh);
    return fresh;
  }

  cut(): void {
    this.#cut++;
  }

  checked(name: string, endpoint: string, good: boolean): void {
    this.#checks.checked(name, endpoint, good);
  }

  converted(seconds: number, failure: string | undefined): void {
    this.#conversions.converted(seconds, failure);
  }

  /** To be called once a second. */
  tick(): void {
    this.#inFlight.read.roll();
    this.#inFlight.write.roll();
  }

  families(): Family[] {
    const all = [...this.#kinds.series()];
    const { read, write } = this.#inFlight;
    const lasting = all.filter((series) => series.lasting !== undefined);
    return [
      figures(
        borrowed.requests,
        all.flatMap(({ labels, codes }) => codes.figures([labels.verb, labels.dryRun, ...labels.resource])),
      ),
      spreads(
        borrowed.durations,
        all
          .filter(({ codes }) => codes.any)
          .map(({ labels, durations }) => [[labels.verb, labels.dryRun, ...labels.resource], durations]),
      ),
      spreads(
        borrowed.sizes,
        all.flatMap(({ labels, sizes }) => (sizes ? [[[labels.verb, ...labels.resource], sizes]] : [])),
      ),
      figures(borrowed.inFlight, [
        [['readOnly'], read.value],
        [['mutating'], write.value],
      ]),
      figures(
        borrowed.lasting,
        lasting.map((series) => [[series.labels.verb, ...series.labels.resource], series.lasting ?? 0]),
      ),
      figures(
        borrowed.terminations,
        all.flatMap(({ labels, terminations }) => terminations.figures([labels.verb, ...labels.resource])),
      ),
      figures(
        borrowed.watchEvents,
        [...this.#watching.values()]
          .filter(({ count }) => count > 0)
          .map(({ labels, count }) => [labels, count] as const),
      ),
      ...this.fairness.families(),
      ...this.#checks.families(),
      ...this.#conversions.families(),
      figures(own.cut, [[[], this.#cut]]),
    ];
  }

  #series(request: ApiRequest, info: RequestInfo | undefined): Series {
    return seriesFor(this.#kinds.of(info), request, info);
  }
}

/** The most that there was at a time in this second or the one before. */
class Peak {
  #now = 0;
  #most = 0;
  #before = 0;

  set(now: number): void {
    this.#now = now;
    if (now > this.#most) this.#most = now;
  }

  roll(): void {
    this.#before = this.#most;
    this.#most = this.#now;
  }

  get value(): number {
    return Math.max(this.#before, this.#most);
  }
}
