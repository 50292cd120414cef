import { checkWrite } from '../check-write.ts';
import { commitBounds, Distribution, type Measures } from '../measures.ts';
import { compactedError, futureError } from '../revisions.ts';
import {
  type CheckReport,
  type Entry,
  type Lease,
  type ListOptions,
  type ListResult,
  type Range,
  type Store,
  StoreError,
  type WatchOptions,
  type WriteOptions,
} from '../store.ts';
import { listInTurns } from '../turns.ts';
import type { Cache } from './cache.ts';
import { checkEtcd } from './check.ts';
import { compactedRevision, compactTo } from './compaction.ts';
import { runCompactor } from './compactor.ts';
import { Confirm } from './confirm.ts';
import type { Connection } from './connection.ts';
import { Feed } from './feed.ts';
import type { Keys } from './keys.ts';
import { DEFAULT_COMPACTION, type EtcdOptions } from './options.ts';
import { readOne, readRange, sizeOf } from './read.ts';
import { Room } from './room.ts';
import { wentBack } from './set-back.ts';
import { Slots } from './slots.ts';
import { acquireTerm } from './terms.ts';
import { watchFrom } from './watch.ts';
import { type Write, write } from './write.ts';

/** Beyond this a read goes to etcd itself, and a write is acknowledged before the own cache shows it. */
const CACHE_MS = 500;

/** What `openEtcd` opens. Nothing of it answers before `load`. */
export class EtcdStore implements Store {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #options: EtcdOptions;
  readonly #slots = new Slots();
  readonly #confirm: Confirm;
  readonly #writes = new Set<Promise<unknown>>();
  readonly #commits = new Distribution(commitBounds);
  readonly #room: Room;
  #feed: Feed | undefined;
  #compactor: Promise<void> | undefined;
  #compacted = 0;
  #closing: Promise<void> | undefined;

  constructor(connection: Connection, keys: Keys, options: EtcdOptions) {
    this.#connection = connection;
    this.#keys = keys;
    this.#options = options;
    this.#confirm = new Confirm(connection, keys);
    this.#room = new Room(options.logger);
  }

  async load(): Promise<void> {
    const parts = { connection: this.#connection, keys: this.#keys, logger: this.#options.logger };
    const onCompacted = (revision: number): void => this.#forgot(revision);
    const onSetBack = (reason: string): Promise<void> => this.#startOver(reason);
    this.#feed = await Feed.start({ ...parts, onCompacted, onSetBack });
    onCompacted(await compactedRevision(this.#connection, this.#keys, 0));
    if (this.#options.compaction === false) return;
    const options = { ...DEFAULT_COMPACTION, ...this.#options.compaction };
    this.#compactor = runCompactor({ ...parts, options, onCompacted, compacted: () => this.#compacted });
  }

  get revision(): number {
    return this.#feed?.cache.versions.revision ?? 0;
  }

  get compacted(): number {
    return this.#compacted;
  }

  get refusing(): string | undefined {
    return this.#room.refusing;
  }

  async get(key: string, { revision }: { revision?: number } = {}): Promise<Entry | undefined> {
    const cache = await this.#cacheFor(revision);
    if (cache !== undefined) return cache.versions.get(key, revision);
    return (await readOne(this.#connection, this.#keys, key, revision)).entry;
  }

  async list(range: Range, options: ListOptions = {}): Promise<ListResult> {
    const cache = await this.#cacheFor(options.revision);
    if (cache !== undefined) return (await listInTurns(cache.versions, range, options)).result;
    return readRange(this.#connection, this.#keys, range, options);
  }

  recent(range: Range): readonly Entry[] | undefined {
    const cache = this.#closing === undefined ? this.#feed?.cache : undefined;
    return cache === undefined || cache.ended ? undefined : cache.versions.recent(range);
  }

  async create(key: string, value: Uint8Array, { holding }: WriteOptions = {}): Promise<Entry> {
    return this.#write({ key, value, expected: 0, previous: undefined, holding });
  }

  async update(
    key: string,
    value: Uint8Array,
    expected: number,
    { holding }: WriteOptions = {},
  ): Promise<Entry> {
    return this.#write({ key, value, expected, previous: this.#known(key, expected), holding });
  }

  async delete(key: string, expected: number, { holding }: WriteOptions = {}): Promise<Entry> {
    return this.#write({ key, expected, previous: this.#known(key, expected), holding });
  }

  async watch(range: Range, options: WatchOptions): Promise<() => void> {
    this.#open();
    if (options.after > this.revision) await this.#cacheFor(options.after);
    return watchFrom(
      {
        connection: this.#connection,
        keys: this.#keys,
        cache: async () => this.#open().ready(),
        compacted: () => this.#compacted,
      },
      range,
      options,
    );
  }

  async compact(revision: number): Promise<void> {
    this.#open();
    if (revision <= this.#compacted) return;
    await this.#cacheFor(revision);
    await compactTo(this.#connection, revision);
    this.#forgot(revision);
  }

  async acquire(name: string, ttlMs: number): Promise<Lease | undefined> {
    this.#open();
    return acquireTerm(this.#connection, this.#keys, name, ttlMs);
  }

  async check(): Promise<CheckReport> {
    return checkEtcd(this.#connection, this.#keys, this.#open());
  }

  count(range: Range): number | undefined {
    const { versions } = this.#open().cache;
    return versions.remaining(range, [], versions.revision);
  }

  async measure(): Promise<Measures> {
    const { watchers } = this.#open().cache.hub;
    return {
      watchers,
      pending: this.#writes.size,
      commits: this.#commits,
      bytes: await sizeOf(this.#connection),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#writes]);
    this.#feed?.stop();
    this.#connection.stop();
    await this.#compactor;
    this.#connection.close();
  }

  #open(): Feed {
    if (this.#closing !== undefined || this.#feed === undefined) {
      throw new StoreError('closed', 'the store is closed');
    }
    return this.#feed;
  }

  /**
   * A cache that may answer as of `revision`, or as of now: then only after etcd confirmed that the cache has all
   * that was acknowledged before. Undefined: ask etcd itself. Fails with `compacted` and `future`.
   */
  async #cacheFor(revision?: number): Promise<Cache | undefined> {
    const feed = this.#open();
    if (revision !== undefined && revision < this.#compacted) throw compactedError(revision, this.#compacted);
    const { cache } = feed;
    if (revision !== undefined && revision <= cache.versions.revision) {
      return revision >= cache.versions.compacted && !cache.ended ? cache : undefined;
    }
    const before = cache.versions.revision;
    const newest = await this.#confirm.revision();
    this.#open();
    if (newest < before && cache === feed.cache) await this.#startOver(wentBack(before, newest));
    if (revision !== undefined && revision > newest) throw futureError(revision, newest);
    return feed.reach(newest, CACHE_MS, true);
  }

  /** etcd was restored from a backup. */
  async #startOver(reason: string): Promise<void> {
    this.#compacted = 0;
    await this.#open().restart(reason);
    this.#forgot(await compactedRevision(this.#connection, this.#keys, 0));
  }

  async #write(wanted: Write): Promise<Entry> {
    const feed = this.#open();
    if (wanted.value !== undefined) checkWrite(wanted.key, wanted.value);
    const parts = { connection: this.#connection, keys: this.#keys, slots: this.#slots };
    const began = performance.now();
    const outcome = this.#room.learn(write(parts, wanted), wanted.value !== undefined);
    const writing = outcome.then(async (entry) => {
      this.#commits.add((performance.now() - began) / 1000);
      await feed.reach(entry.revision, CACHE_MS, false);
      return entry;
    });
    this.#writes.add(writing);
    try {
      return await writing;
    } finally {
      this.#writes.delete(writing);
    }
  }

  #known(key: string, expected: number): Entry | undefined {
    const { ended, versions } = this.#open().cache;
    const current = ended ? undefined : versions.get(key);
    return current?.revision === expected ? current : undefined;
  }

  /** What the cache keeps of it goes at the cache's own pace: see Retention. */
  #forgot(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
  }
}
