import type { Bounds } from '../../cluster/limits.ts';
import { type Bucket, fullBucket, rateOf, refill, take, waitOf } from './bucket.ts';
import type { Answer } from './questions.ts';
import type { Bounded, Tree } from './tree.ts';

const watchRetrySeconds = 5;
/** Buckets that are full again say nothing; they are thrown away when there are so many. */
const mostBuckets = 10_000;

/** Requests and watches of the logical clusters whose requests or watches are bounded. */
export class Flows {
  readonly #tree: Tree;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();
  readonly #watches = new Map<string, number>();
  readonly #tickets = new Map<number, { asker: object; ids: readonly string[] }>();
  #lastTicket = 0;

  /** `now`: in ms, never back. */
  constructor(tree: Tree, now: () => number = () => performance.now()) {
    this.#tree = tree;
    this.#now = now;
  }

  /** All above have to have some left; what the least has counts. */
  requests(cluster: string, count: number): Answer {
    const chain = this.#tree.chain(cluster).filter(({ bounds }) => bounds.requestsPerSecond !== undefined);
    const now = this.#now();
    let granted = count;
    for (const one of chain) {
      const bucket = this.#bucketOf(one, now);
      granted = Math.min(granted, refill(bucket, one.bounds, now));
      if (granted < 1) return refusedRequest(one, waitOf(bucket, one.bounds));
    }
    for (const one of chain) take(this.#bucketOf(one, now), granted, now);
    return { granted };
  }

  watch(cluster: string, asker: object): Answer {
    const chain = this.#tree.chain(cluster).filter(({ bounds }) => bounds.watches !== undefined);
    for (const { id, path, bounds } of chain) {
      const used = this.#watches.get(id) ?? 0;
      if (used >= (bounds.watches ?? Infinity)) {
        const refused = `exceeded limits of logical cluster ${path}, requested: watches=1, used: watches=${used}, limited: watches=${bounds.watches}`;
        return { refused, retryAfter: watchRetrySeconds };
      }
    }
    const ids = chain.map(({ id }) => id);
    for (const id of ids) this.#watches.set(id, (this.#watches.get(id) ?? 0) + 1);
    const ticket = ++this.#lastTicket;
    this.#tickets.set(ticket, { asker, ids });
    return { ticket };
  }

  unwatch(ticket: number): void {
    const held = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    for (const id of held?.ids ?? []) {
      const left = (this.#watches.get(id) ?? 0) - 1;
      if (left > 0) this.#watches.set(id, left);
      else this.#watches.delete(id);
    }
  }

  /** The watches of a process that has ended have, too. */
  leave(asker: object): void {
    for (const [ticket, held] of this.#tickets) if (held.asker === asker) this.unwatch(ticket);
  }

  /** What nothing bounds is not counted. */
  use(id: string, bounds: Bounds): { requestsPerSecond?: number; watches?: number } {
    const now = this.#now();
    const bucket = this.#buckets.get(id);
    return {
      ...(bounds.requestsPerSecond !== undefined && { requestsPerSecond: bucket ? rateOf(bucket, now) : 0 }),
      ...(bounds.watches !== undefined && { watches: this.#watches.get(id) ?? 0 }),
    };
  }

  #bucketOf({ id, bounds }: Bounded, now: number): Bucket {
    let bucket = this.#buckets.get(id);
    if (bucket === undefined) {
      if (this.#buckets.size >= mostBuckets) this.#forget(now);
      bucket = fullBucket(bounds, now);
      this.#buckets.set(id, bucket);
    }
    return bucket;
  }

  #forget(now: number): void {
    for (const [id, bucket] of this.#buckets) {
      const { bounds } = this.#tree.one(id);
      const full = fullBucket(bounds, now).tokens;
      if (bounds.requestsPerSecond === undefined || refill(bucket, bounds, now) >= full)
        this.#buckets.delete(id);
    }
  }
}

function refusedRequest({ path, bounds }: Bounded, retryAfter: number): Answer {
  const limited = `limited: requestsPerSecond=${bounds.requestsPerSecond}`;
  return { refused: `exceeded limits of logical cluster ${path}, ${limited}`, retryAfter };
}
