import { getHeapStatistics } from 'node:v8';
import { StatusError } from '../../kube/status.ts';
import type { Entry } from '../../storage/store.ts';
import { mayHold } from '../fairness/limits.ts';

const mebibyte = 1024 * 1024;

export interface KeptLimits {
  request: number;
  cluster: number;
  all: number;
}

/** What it may be in a process whose heap may grow so far. Alone a logical cluster keeps no more than half of all. */
export function keptLimits(heapBytes: number): KeptLimits {
  const all = Math.max(2, Math.floor(heapBytes / 8 / mebibyte));
  const alone = Math.floor(all / 2);
  return {
    request: Math.min(64, alone) * mebibyte,
    cluster: Math.min(128, alone) * mebibyte,
    all: all * mebibyte,
  };
}

/** What a reader has in any case before it may be told from one that does not read, and what that takes in a second at least. */
const graceMs = 5000;
const slowBytes = 256 * 1024;
/** As long as any request may take but a watch, which may wait for a webhook again and again before it begins. */
const makingMs = 60_000;

/** Who reads an answer. */
export interface Reader {
  /** How many bytes have left for it. */
  taken(): number;
  /** It gets no more, and what it would have got is let go. */
  cut(): void;
}

/**
 * How many bytes of what webhooks made are kept for requests until those are answered. A logical cluster leaves as much room as
 * it takes, so that there is some for the next, however long those take who make theirs. Where there is no room for more, those
 * give way first who read too slowly; where all logical clusters together leave none, to one that keeps less than its share
 * then the oldest answers of one that keeps more.
 */
export class Kept {
  readonly limits: KeptLimits;
  readonly #now: () => number;
  readonly #clusters = new Map<string, number>();
  /** In the order in which they were answered, or began. */
  readonly #keeping = new Set<Keeping>();
  #all = 0;

  constructor(limits = keptLimits(getHeapStatistics().heap_size_limit), now = () => performance.now()) {
    this.limits = limits;
    this.#now = now;
  }

  of(cluster: string): number {
    return this.#clusters.get(cluster) ?? 0;
  }

  get now(): number {
    return this.#now();
  }

  add(cluster: string, bytes: number): void {
    const now = this.of(cluster) + bytes;
    this.#all += bytes;
    if (now > 0) this.#clusters.set(cluster, now);
    else this.#clusters.delete(cluster);
  }

  begins(keeping: Keeping): void {
    this.#keeping.delete(keeping);
    this.#keeping.add(keeping);
  }

  over(keeping: Keeping): void {
    this.#keeping.delete(keeping);
  }

  /** Throws a StatusError 429 where nobody gives way. */
  makeRoom(cluster: string, bytes: number): void {
    const { limits } = this;
    while (this.of(cluster) + bytes > limits.cluster) {
      this.#cutOne(
        (one) => one.cluster === cluster && one.isSlow,
        `in this logical cluster is more than ${inWords(limits.cluster)}`,
      );
    }
    while (!this.#hasRoom(cluster, bytes)) {
      const share = limits.all / (this.#clusters.size + (this.#clusters.has(cluster) ? 0 : 1));
      const isModest = this.of(cluster) + bytes <= share;
      this.#cutOne(
        (one) => one.isSlow || (one.isRead && isModest && this.of(one.cluster) > share),
        `leaves too little of ${inWords(limits.all)} for others`,
      );
    }
  }

  #hasRoom(cluster: string, bytes: number): boolean {
    const room = this.limits.all - this.#all;
    return bytes <= room && mayHold(this.of(cluster), bytes, room);
  }

  #cutOne(mayBe: (one: Keeping) => boolean, why: string): void {
    const found = [...this.#keeping].find(mayBe);
    if (found === undefined) throw tooMuch(why);
    found.cut();
  }
}

/** What one request keeps; whoever made it releases it. */
export class Keeping {
  readonly cluster: string;
  readonly #kept: Kept;
  #entries = new WeakSet<Entry>();
  #bytes = 0;
  #reader: Reader | undefined;
  #since = 0;
  #isCut = false;

  constructor(kept: Kept, cluster: string) {
    this.#kept = kept;
    this.cluster = cluster;
  }

  /** Throws a StatusError: 500 where it is too much for one request, 429 where others keep too much. */
  add(entry: Entry): void {
    const { request } = this.#kept.limits;
    const { length } = entry.value;
    if (this.#bytes + length > request) {
      throw new StatusError(
        500,
        '',
        `what conversion webhooks made of these objects is more than ${inWords(request)}: ask for them with a smaller limit`,
      );
    }
    if (this.#isCut) throw tooMuch('has taken too long to be made');
    this.#kept.makeRoom(this.cluster, length);
    if (this.#bytes === 0) this.#begin();
    this.#entries.add(entry);
    this.#count(length);
  }

  /** It was looked at, and is not for the answer. */
  drop(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#count(-entry.value.length);
  }

  /** From now on it is kept for its reader. */
  readBy(reader: Reader): void {
    this.#reader = reader;
    if (this.#isCut) reader.cut();
    else if (this.#bytes > 0) this.#begin();
  }

  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  get isSlow(): boolean {
    const due = this.#reader ? graceMs + (this.#reader.taken() / slowBytes) * 1000 : makingMs;
    return this.#kept.now - this.#since > due;
  }

  cut(): void {
    this.#isCut = true;
    this.release();
    this.#reader?.cut();
  }

  release(): void {
    this.#entries = new WeakSet();
    this.#count(-this.#bytes);
    this.#kept.over(this);
  }

  #begin(): void {
    this.#since = this.#kept.now;
    this.#kept.begins(this);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#kept.add(this.cluster, bytes);
  }
}

function tooMuch(why: string): StatusError {
  return new StatusError(
    429,
    'TooManyRequests',
    `what conversion webhooks made of what is being read ${why}: try again later, or with a smaller limit`,
    { retryAfterSeconds: 1 },
  );
}

function inWords(bytes: number): string {
  return bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : `${bytes} bytes`;
}
