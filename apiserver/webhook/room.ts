import { getHeapStatistics } from 'node:v8';
import { mayHold } from '../fairness/limits.ts';
import { shortBytes, WebhookCallError } from './reading.ts';

const mebibyte = 1024 * 1024;
/** There is room for some of the longest in any process. */
const leastBytes = 64 * mebibyte;

/**
 * How many bytes of long answers have come and are not made use of yet: each waits for its turn as long as its webhook's timeout says.
 * A logical cluster leaves as much room as it takes, so that there is some for the next.
 */
export class AnswerRoom {
  readonly #most: number;
  readonly #clusters = new Map<string, number>();
  #all = 0;

  constructor(most = Math.max(leastBytes, Math.floor(getHeapStatistics().heap_size_limit / 8))) {
    this.#most = most;
  }

  /** For one answer; whoever made it releases it. */
  begin(cluster: string): Held {
    return new Held((bytes) => this.#take(cluster, bytes));
  }

  /** Fewer than none are given back. */
  #take(cluster: string, bytes: number): void {
    const held = this.#clusters.get(cluster) ?? 0;
    const room = this.#most - this.#all;
    if (bytes > 0 && (bytes > room || !mayHold(held, bytes, room)))
      throw new WebhookCallError('too many long responses of webhooks wait to be read: try again later');
    this.#all += bytes;
    if (held + bytes > 0) this.#clusters.set(cluster, held + bytes);
    else this.#clusters.delete(cluster);
  }
}

/** What one answer has of it. */
export class Held {
  readonly #take: (bytes: number) => void;
  #bytes = 0;

  constructor(take: (bytes: number) => void) {
    this.#take = take;
  }

  /** So long it is by now. Throws WebhookCallError where there is no room for more. */
  upTo(length: number): void {
    if (length <= shortBytes) return;
    this.#take(length - this.#bytes);
    this.#bytes = length;
  }

  release(): void {
    this.#take(-this.#bytes);
    this.#bytes = 0;
  }
}
