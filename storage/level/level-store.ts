import { checkWrite } from '../check-write.ts';
import type { Leases } from '../leases.ts';
import type { Measures } from '../measures.ts';
import { type Propose, proposeCreate, proposeDelete, proposeUpdate } from '../propose.ts';
import { isOnDisk } from '../residency.ts';
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
import type { Versions } from '../versions.ts';
import type { WatchHub } from '../watch-hub.ts';
import { checkLevel } from './check.ts';
import type { Disk } from './disk.ts';
import { sizeOf } from './files.ts';
import type { Reserve } from './reserve.ts';
import { encodeToken, TOKEN_KEY } from './token.ts';
import { Values } from './values.ts';
import type { Watermark } from './watermark.ts';
import type { Writer } from './writer.ts';

export interface LevelStoreParts {
  disk: Disk;
  versions: Versions;
  hub: WatchHub;
  writer: Writer;
  watermark: Watermark;
  reserve: Reserve;
  leases: Leases;
}

/** A store whose parts were read and checked: see openLevel. */
export class LevelStore implements Store {
  readonly #disk: Disk;
  readonly #versions: Versions;
  readonly #hub: WatchHub;
  readonly #writer: Writer;
  readonly #watermark: Watermark;
  readonly #reserve: Reserve;
  readonly #leases: Leases;
  readonly #values: Values;
  readonly #closing = new AbortController();
  #checking: Promise<CheckReport> | undefined;
  #closed: Promise<void> | undefined;

  constructor({ disk, versions, hub, writer, watermark, reserve, leases }: LevelStoreParts) {
    this.#disk = disk;
    this.#versions = versions;
    this.#hub = hub;
    this.#writer = writer;
    this.#watermark = watermark;
    this.#reserve = reserve;
    this.#leases = leases;
    this.#values = new Values(disk, versions);
  }

  get revision(): number {
    return this.#versions.revision;
  }

  get compacted(): number {
    return this.#versions.compacted;
  }

  get refusing(): string | undefined {
    return this.#reserve.refusing;
  }

  async get(key: string, options?: { revision?: number }): Promise<Entry | undefined> {
    this.#mustBeOpen();
    const entry = this.#versions.get(key, options?.revision);
    if (entry === undefined || !isOnDisk(entry)) return entry;
    if (options?.revision === undefined) return this.#values.current(key);
    const [whole] = (await this.#values.all([entry])) ?? [];
    return whole ?? this.get(key, options);
  }

  async list(range: Range, options?: ListOptions): Promise<ListResult> {
    this.#mustBeOpen();
    const { result, partial } = await listInTurns(this.#versions, range, options);
    if (!partial) return result;
    const entries = await this.#values.all(result.entries);
    return entries === undefined ? this.list(range, options) : { ...result, entries };
  }

  recent(range: Range): readonly Entry[] | undefined {
    return this.#closed === undefined ? this.#versions.recent(range) : undefined;
  }

  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<Entry> {
    return this.#put(key, value, options, (current, revision) =>
      proposeCreate(key, value, current, revision),
    );
  }

  update(key: string, value: Uint8Array, expected: number, options?: WriteOptions): Promise<Entry> {
    const propose: Propose = (current, revision) => proposeUpdate(key, value, expected, current, revision);
    return this.#put(key, value, options, propose);
  }

  delete(key: string, expected: number, options?: WriteOptions): Promise<Entry> {
    return this.#write(key, options, (current, revision) => proposeDelete(key, expected, current, revision));
  }

  watch(range: Range, options: WatchOptions): Promise<() => void> {
    return this.#hub.watch(range, options);
  }

  async compact(revision: number): Promise<void> {
    if (this.#writer.refusal !== undefined) throw this.#writer.refusal;
    this.#versions.compactable(revision);
    return this.#writer.compact(revision);
  }

  async acquire(name: string, ttlMs: number): Promise<Lease | undefined> {
    if (this.#writer.refusal !== undefined) throw this.#writer.refusal;
    const lease = this.#leases.acquire(name, ttlMs, this.#versions.revision);
    if (lease === undefined) return undefined;
    try {
      // From here on writes of earlier holders are refused; those that were accepted before have to be over.
      await Promise.all([this.#writer.note(TOKEN_KEY, encodeToken(lease.token)), this.#writer.settled()]);
      return lease;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  check(): Promise<CheckReport> {
    this.#mustBeOpen();
    const parts = { disk: this.#disk, versions: this.#versions, hub: this.#hub };
    this.#checking ??= checkLevel({ ...parts, signal: this.#closing.signal }).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  count(range: Range): number | undefined {
    return this.#versions.remaining(range, [], this.revision);
  }

  async measure(): Promise<Measures> {
    const { pendings: pending, commits } = this.#writer;
    return { watchers: this.#hub.watchers, pending, commits, bytes: await sizeOf(this.#disk.directory) };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #put(key: string, value: Uint8Array, options: WriteOptions | undefined, propose: Propose): Promise<Entry> {
    try {
      checkWrite(key, value);
      this.#reserve.check(performance.now());
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#write(key, options, propose);
  }

  /**
   * A write is judged against what is durable. So it waits for a write to its key that is under way: an answer
   * must not tell of something that a power cut could still undo. Not asynchronous where nothing has to be waited
   * for: while the writers of one batch come back with their next writes, the disk has nothing to do.
   */
  #write(key: string, options: WriteOptions | undefined, propose: Propose): Promise<Entry> {
    const pending = this.#writer.pending(key);
    if (pending !== undefined) return this.#writeAfter(pending.catch(noop), key, options, propose);
    const current = this.#versions.get(key);
    // What is replaced, or named in an error, is told with its value.
    if (isOnDisk(current)) return this.#writeAfter(this.#values.current(key), key, options, propose);
    try {
      if (this.#writer.refusal !== undefined) throw this.#writer.refusal;
      this.#leases.check(options?.holding);
      return this.#writer.enqueue(propose(current, this.#writer.next));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #writeAfter(
    first: Promise<unknown>,
    key: string,
    options: WriteOptions | undefined,
    propose: Propose,
  ): Promise<Entry> {
    await first;
    return this.#write(key, options, propose);
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#reserve.stop();
    await this.#checking?.catch(() => {});
    await this.#writer.close();
    this.#hub.close();
    await this.#watermark.finish(this.#versions.revision);
    await this.#disk.close();
  }

  #mustBeOpen(): void {
    if (this.#closed !== undefined) throw new StoreError('closed', 'the store is closed');
  }
}

function noop(): void {}
