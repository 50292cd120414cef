import type { ObservedQueue, ObserveQueue, QueueObserver } from '../../controller/observer.ts';
import type { Distribution } from '../../storage/measures.ts';
import { borrowed } from './definitions.ts';
import { distributionOf, type Family, figures, spreads } from './family.ts';

/** Queues of one name; a physical cluster's count together with those of the others. */
interface Queue {
  readonly live: Set<ObservedQueue>;
  readonly working: Map<object, Map<string, number>>;
  adds: number;
  retries: number;
  readonly waited: Distribution;
  readonly worked: Distribution;
}

/** What the controllers' queues do: each keeps when its keys came and were taken. */
export class QueueMetrics {
  readonly #queues = new Map<string, Queue>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  readonly observe: ObserveQueue = (name, queue) => {
    const known = this.#named(queueName(name));
    const working = new Map<string, number>();
    known.live.add(queue);
    known.working.set(queue, working);
    const ended = () => {
      known.live.delete(queue);
      known.working.delete(queue);
    };
    return { observer: this.#observer(known, working), ended };
  };

  families(): Family[] {
    const all = [...this.#queues];
    const of = <T>(value: (queue: Queue) => T) => all.map(([name, queue]) => [[name], value(queue)] as const);
    const now = this.#now();
    const ages = (queue: Queue) =>
      [...queue.working.values()].flatMap((keys) => [...keys.values()].map((from) => (now - from) / 1000));
    return [
      figures(
        borrowed.depth,
        of((queue) => [...queue.live].reduce((sum, { length }) => sum + length, 0)),
      ),
      figures(
        borrowed.adds,
        of(({ adds }) => adds),
      ),
      figures(
        borrowed.retries,
        of(({ retries }) => retries),
      ),
      spreads(
        borrowed.waited,
        of(({ waited }) => waited),
      ),
      spreads(
        borrowed.worked,
        of(({ worked }) => worked),
      ),
      figures(
        borrowed.unfinished,
        of((queue) => ages(queue).reduce((sum, age) => sum + age, 0)),
      ),
      figures(
        borrowed.longest,
        of((queue) => ages(queue).reduce((most, age) => Math.max(most, age), 0)),
      ),
    ];
  }

  #observer(queue: Queue, working: Map<string, number>): QueueObserver {
    const waiting = new Map<string, number>();
    return {
      added: (key) => {
        queue.adds++;
        waiting.set(key, this.#now());
      },
      taken: (key) => {
        const now = this.#now();
        queue.waited.add((now - (waiting.get(key) ?? now)) / 1000);
        waiting.delete(key);
        working.set(key, now);
      },
      done: (key) => {
        const from = working.get(key);
        if (from !== undefined) queue.worked.add((this.#now() - from) / 1000);
        working.delete(key);
      },
      retried: () => {
        queue.retries++;
      },
    };
  }

  #named(name: string): Queue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const fresh: Queue = {
      live: new Set(),
      working: new Map(),
      adds: 0,
      retries: 0,
      waited: distributionOf(borrowed.waited),
      worked: distributionOf(borrowed.worked),
    };
    this.#queues.set(name, fresh);
    return fresh;
  }
}

/** A syncer's controllers are named after their physical cluster: `syncer-down-east`. */
export function queueName(name: string): string {
  return name.replace(/^(syncer-[a-z]+)-.*$/s, '$1');
}
