import type {
  CheckReport,
  Entry,
  Fence,
  Lease,
  ListOptions,
  ListResult,
  Range,
  Store,
  WatchOptions,
  WriteOptions,
} from '../storage/store.ts';

/** The same store for who leads by a lease: every write happens only while the lease is held with that token. */
export function fencedStore(store: Store, holding: Fence): Store {
  return new Fenced(store, holding);
}

/** A class, since each physical cluster has one: an object literal with accessors and a function for each method takes 2 KiB. */
class Fenced implements Store {
  readonly #store: Store;
  readonly #holding: Fence;

  constructor(store: Store, holding: Fence) {
    this.#store = store;
    this.#holding = holding;
  }

  get revision(): number {
    return this.#store.revision;
  }

  get compacted(): number {
    return this.#store.compacted;
  }

  get(key: string, options?: { revision?: number }): Promise<Entry | undefined> {
    return this.#store.get(key, options);
  }

  list(range: Range, options?: ListOptions): Promise<ListResult> {
    return this.#store.list(range, options);
  }

  recent(range: Range): readonly Entry[] | undefined {
    return this.#store.recent?.(range);
  }

  seen(key: string): Entry | undefined {
    return this.#store.seen?.(key);
  }

  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<Entry> {
    return this.#store.create(key, value, { ...options, holding: this.#holding });
  }

  update(key: string, value: Uint8Array, expected: number, options?: WriteOptions): Promise<Entry> {
    return this.#store.update(key, value, expected, { ...options, holding: this.#holding });
  }

  delete(key: string, expected: number, options?: WriteOptions): Promise<Entry> {
    return this.#store.delete(key, expected, { ...options, holding: this.#holding });
  }

  watch(range: Range, options: WatchOptions): Promise<() => void> {
    return this.#store.watch(range, options);
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision);
  }

  acquire(name: string, ttlMs: number): Promise<Lease | undefined> {
    return this.#store.acquire(name, ttlMs);
  }

  check(): Promise<CheckReport> {
    return this.#store.check();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
