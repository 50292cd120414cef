import { StatusError } from '../../kube/status.ts';
import type { Entry } from '../../storage/store.ts';

const mebibyte = 1024 * 1024;

export interface KeptLimits {
  request: number;
  cluster: number;
}

const most: KeptLimits = { request: 64 * mebibyte, cluster: 128 * mebibyte };

/** How many bytes of what webhooks made are kept for requests until those are answered. */
export class Kept {
  readonly limits: KeptLimits;
  readonly #clusters = new Map<string, number>();

  constructor(limits = most) {
    this.limits = limits;
  }

  of(cluster: string): number {
    return this.#clusters.get(cluster) ?? 0;
  }

  add(cluster: string, bytes: number): void {
    const now = this.of(cluster) + bytes;
    if (now > 0) this.#clusters.set(cluster, now);
    else this.#clusters.delete(cluster);
  }
}

/** What one request keeps; whoever made it releases it. */
export class Keeping {
  readonly #kept: Kept;
  readonly #cluster: string;
  #entries = new WeakSet<Entry>();
  #bytes = 0;

  constructor(kept: Kept, cluster: string) {
    this.#kept = kept;
    this.#cluster = cluster;
  }

  /** Throws a StatusError 500 where that is too much. */
  add(entry: Entry): void {
    const { request, cluster } = this.#kept.limits;
    const { length } = entry.value;
    if (this.#bytes + length > request) {
      throw tooMuch(`these objects is more than ${inWords(request)}: ask for them with a smaller limit`);
    }
    if (this.#kept.of(this.#cluster) + length > cluster) {
      throw tooMuch(
        `what is being read in this logical cluster is more than ${inWords(cluster)}: ask for fewer at a time, with a smaller limit`,
      );
    }
    this.#entries.add(entry);
    this.#count(length);
  }

  /** It was looked at, and is not for the answer. */
  drop(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#count(-entry.value.length);
  }

  release(): void {
    this.#entries = new WeakSet();
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#kept.add(this.#cluster, bytes);
  }
}

function tooMuch(why: string): StatusError {
  return new StatusError(500, '', `what conversion webhooks made of ${why}`);
}

function inWords(bytes: number): string {
  return bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : `${bytes} bytes`;
}
