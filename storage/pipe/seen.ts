import type { Entry, StoreEvent } from '../store.ts';

/** All of it together; what is larger than a part of it is read each time. */
const MOST_BYTES = 8 << 20;
const LARGEST = MOST_BYTES / 64;
/** What an entry costs beside its key and its bytes. */
const OVERHEAD = 200;

/**
 * The last version of each key that is kept (`keeps`) and came over a pipe, by an event or as the answer to a write or a read: the
 * newest, as far as is known here. What was not seen for longest goes when there are too many bytes. Each value is kept by itself:
 * what it came with may be many times as large, and would stay as long.
 */
export class Seen {
  readonly #keeps: (key: string) => boolean;
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(keeps: (key: string) => boolean, most: number = MOST_BYTES) {
    this.#keeps = keeps;
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  event({ type, entry }: StoreEvent): void {
    if (type === 'delete') this.#gone(entry);
    else this.note(entry);
  }

  note(entry: Entry): void {
    if (!this.#keeps(entry.key) || !this.#isNews(entry)) return;
    this.forget(entry.key);
    if (costOf(entry) <= LARGEST) this.#keep({ ...entry, value: copyOf(entry.value) });
  }

  /** It is not there, or not as it was taken to be. */
  forget(key: string): void {
    const before = this.#entries.get(key);
    if (before === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= costOf(before);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #isNews({ key, revision }: Entry): boolean {
    return revision > (this.#entries.get(key)?.revision ?? 0);
  }

  #gone({ key, revision }: Entry): void {
    if (revision > (this.#entries.get(key)?.revision ?? 0)) this.forget(key);
  }

  #keep(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    this.#bytes += costOf(entry);
    for (const [key] of this.#entries) {
      if (this.#bytes <= this.#most) return;
      this.forget(key);
    }
  }
}

function costOf({ key, value }: Entry): number {
  return key.length + value.length + OVERHEAD;
}

function copyOf(value: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(value.length);
  copy.set(value);
  return copy;
}
