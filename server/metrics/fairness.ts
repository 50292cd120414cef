import type { FairnessObserver, Refusal, Sorted } from '../../apiserver/fairness/observer.ts';
import type { Distribution } from '../../storage/measures.ts';
import { distributionOf, type Family, figures, spreads } from './family.ts';
import { flow } from './flow-definitions.ts';

/** Of requests of one FlowSchema. */
class Counts {
  readonly labels: readonly string[];
  readonly rejected = new Map<Refusal, number>();
  dispatched = 0;
  waiting = 0;
  waitingSeats = 0;
  executing = 0;
  executingSeats = 0;
  readonly served: Distribution = distributionOf(flow.waited);
  readonly refused: Distribution = distributionOf(flow.waited);

  constructor({ level, schema }: Sorted) {
    this.labels = [level, schema];
  }
}

type Limits = Parameters<FairnessObserver['limited']>[0];

/** What becomes of requests that want seats, by FlowSchema: of those there are as many as the administrator makes. */
export class FairnessMetrics implements FairnessObserver {
  readonly #counts = new Map<string, Counts>();
  /** By what is the same object for the same two names, until the configuration changes. */
  #known = new WeakMap<Sorted, Counts>();
  #limits: Limits = [];

  queued(at: Sorted, seats: number): void {
    const counts = this.#of(at);
    counts.waiting++;
    counts.waitingSeats += seats;
  }

  left(at: Sorted, seats: number): void {
    const counts = this.#of(at);
    counts.waiting--;
    counts.waitingSeats -= seats;
  }

  waited(at: Sorted, seconds: number, served: boolean): void {
    const counts = this.#of(at);
    (served ? counts.served : counts.refused).add(seconds);
  }

  dispatched(at: Sorted, seats: number): void {
    const counts = this.#of(at);
    counts.dispatched++;
    counts.executing++;
    counts.executingSeats += seats;
  }

  ended(at: Sorted, seats: number): void {
    const counts = this.#of(at);
    counts.executing--;
    counts.executingSeats -= seats;
  }

  rejected(at: Sorted, reason: Refusal): void {
    const { rejected } = this.#of(at);
    rejected.set(reason, (rejected.get(reason) ?? 0) + 1);
  }

  limited(levels: Limits): void {
    this.#limits = levels;
  }

  #of(at: Sorted): Counts {
    let counts = this.#known.get(at);
    if (counts !== undefined) return counts;
    const key = `${at.level}/${at.schema}`;
    counts = this.#counts.get(key) ?? new Counts(at);
    this.#counts.set(key, counts);
    this.#known.set(at, counts);
    return counts;
  }

  families(): Family[] {
    const all = [...this.#counts.values()];
    const each = (value: (counts: Counts) => number) =>
      all.map((counts) => [counts.labels, value(counts)] as const);
    const limits = (value: (limits: Limits[number]['limits']) => number) =>
      this.#limits.map(({ name, limits: own }) => [[name], value(own)] as const);
    return [
      figures(
        flow.rejected,
        all.flatMap(({ labels, rejected }) =>
          Array.from(rejected, ([reason, count]) => [[...labels, reason], count] as const),
        ),
      ),
      figures(
        flow.dispatched,
        each(({ dispatched }) => dispatched),
      ),
      figures(
        flow.waiting,
        each(({ waiting }) => waiting),
      ),
      figures(
        flow.waitingSeats,
        each(({ waitingSeats }) => waitingSeats),
      ),
      figures(
        flow.executing,
        each(({ executing }) => executing),
      ),
      figures(
        flow.executingSeats,
        each(({ executingSeats }) => executingSeats),
      ),
      spreads(
        flow.waited,
        all.flatMap(({ labels, served, refused }) =>
          [['true', served] as const, ['false', refused] as const]
            .filter(([, { counts }]) => counts.some(Boolean))
            .map(([execute, spread]) => [[...labels, execute], spread] as const),
        ),
      ),
      figures(
        flow.nominal,
        limits(({ nominal }) => nominal),
      ),
      figures(
        flow.lower,
        limits(({ least }) => least),
      ),
      figures(
        flow.upper,
        limits(({ most }) => most),
      ),
    ];
  }
}
