import { Aging } from '../aging.ts';
import { checkWrite } from '../check-write.ts';
import { Leases } from '../leases.ts';
import { commitBounds, Distribution, type Measures } from '../measures.ts';
import { proposeCreate, proposeDelete, proposeUpdate } from '../propose.ts';
import { Retention, type RetentionLimits } from '../retention.ts';
import {
  type CheckReport,
  type Entry,
  type Lease,
  type ListOptions,
  type ListResult,
  type Range,
  type Store,
  StoreError,
  type StoreEvent,
  type WatchOptions,
  type WriteOptions,
} from '../store.ts';
import { Versions } from '../versions.ts';
import { WatchHub } from '../watch-hub.ts';

/** A store that forgets everything when the process ends: the reference for what every backend does. */
export function openMemory(retention?: Partial<RetentionLimits>): Store {
  return new MemoryStore(new Retention(retention));
}

class MemoryStore implements Store {
  readonly #versions = new Versions();
  readonly #hub = new WatchHub(this.#versions);
  readonly #retention: Retention;
  readonly #aging: Aging;
  readonly #leases = new Leases();
  #closed = false;

  constructor(retention: Retention) {
    this.#retention = retention;
    const versions = this.#versions;
    this.#aging = new Aging(
      retention.ageMs,
      () => versions.revision > versions.compacted,
      () => this.#forget(),
    );
  }

  get revision(): number {
    return this.#versions.revision;
  }

  get compacted(): number {
    return this.#versions.compacted;
  }

  async get(key: string, options?: { revision?: number }): Promise<Entry | undefined> {
    this.#open();
    return this.#versions.get(key, options?.revision);
  }

  async list(range: Range, options?: ListOptions): Promise<ListResult> {
    this.#open();
    return this.#versions.list(range, options);
  }

  recent(range: Range): readonly Entry[] | undefined {
    return this.#closed ? undefined : this.#versions.recent(range);
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions): Promise<Entry> {
    this.#open();
    checkWrite(key, value);
    this.#leases.check(options?.holding);
    return this.#commit(proposeCreate(key, value, this.#versions.get(key), this.#next()));
  }

  async update(key: string, value: Uint8Array, expected: number, options?: WriteOptions): Promise<Entry> {
    this.#open();
    checkWrite(key, value);
    this.#leases.check(options?.holding);
    return this.#commit(proposeUpdate(key, value, expected, this.#versions.get(key), this.#next()));
  }

  async delete(key: string, expected: number, options?: WriteOptions): Promise<Entry> {
    this.#open();
    this.#leases.check(options?.holding);
    return this.#commit(proposeDelete(key, expected, this.#versions.get(key), this.#next()));
  }

  async watch(range: Range, options: WatchOptions): Promise<() => void> {
    return this.#hub.watch(range, options);
  }

  async compact(revision: number): Promise<void> {
    this.#open();
    this.#versions.compact(revision);
  }

  async acquire(name: string, ttlMs: number): Promise<Lease | undefined> {
    this.#open();
    return this.#leases.acquire(name, ttlMs, this.#versions.revision);
  }

  /** There is nothing but memory to compare. */
  async check(): Promise<CheckReport> {
    this.#open();
    return { revision: this.revision, kinds: [], damaged: 0 };
  }

  count(range: Range): number | undefined {
    return this.#versions.remaining(range, [], this.revision);
  }

  async measure(): Promise<Measures> {
    const commits = new Distribution(commitBounds);
    return { watchers: this.#hub.watchers, pending: 0, commits, bytes: undefined };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#aging.end();
    this.#hub.close();
  }

  #open(): void {
    if (this.#closed) throw new StoreError('closed', 'the store is closed');
  }

  #next(): number {
    return this.#versions.revision + 1;
  }

  /** Visible, then watched, then (when the caller's promise resolves) acknowledged. */
  #commit(event: StoreEvent): Entry {
    this.#versions.apply(event);
    this.#hub.publish([event]);
    this.#forget();
    this.#aging.wake();
    return event.entry;
  }

  #forget(): boolean {
    const due = this.#retention.due(performance.now(), this.#versions);
    if (due !== undefined) this.#versions.compact(due);
    return due !== undefined;
  }
}
