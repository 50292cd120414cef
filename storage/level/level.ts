import { checkWrite } from '../check-write.ts';
import { Leases } from '../leases.ts';
import { type Propose, proposeCreate, proposeDelete, proposeUpdate } from '../propose.ts';
import { isOnDisk } from '../residency.ts';
import { Retention } from '../retention.ts';
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
import { WatchHub } from '../watch-hub.ts';
import { checkLevel } from './check.ts';
import { type Disk, openDisk } from './disk.ts';
import { translate } from './errors.ts';
import { layout } from './files.ts';
import { load } from './load.ts';
import { Reserve } from './reserve.ts';
import { encodeToken, readToken, TOKEN_KEY } from './token.ts';
import { Values } from './values.ts';
import { requireWatermark, Watermark } from './watermark.ts';
import { type Logger, Writer } from './writer.ts';

export interface LevelOptions {
  /** Wait for the disk before acknowledging. Default true; false only for tests: a power cut loses writes. */
  sync?: boolean;
  /** How much history to keep, whichever bound is reached first. Default 5 minutes, 100,000 events, 256 MiB. */
  historyAgeMs?: number;
  historyEvents?: number;
  historyBytes?: number;
  /** Refuse creates and updates with `full` while fewer bytes are free on the disk. Default 128 MiB. */
  reserveBytes?: number;
  /** How many bytes are free on the disk of a directory; default: what the file system says. */
  freeBytes?: (directory: string) => Promise<number>;
  /**
   * How many bytes of current values stay in memory; default all. Above it the least used are read from disk when
   * somebody asks for them. Keys, and history within its own bound, stay in memory in any case.
   */
  memoryBudget?: number;
  logger?: Logger;
}

const DEFAULT_RESERVE = 128 << 20;

/**
 * Opens the store in a directory, making it when there is none. Reads and watches are served from memory, except
 * for what a budget keeps out of it. One process at a time. Fails with `corrupt` when anything is damaged or
 * missing, `unavailable` when another process has it, `full`.
 */
export async function openLevel(directory: string, options: LevelOptions = {}): Promise<Store> {
  return startLevel(await openDisk(directory, options.sync ?? true), options);
}

/** The second half of openLevel: reads and checks everything. Closes the disk when it fails. */
export async function startLevel(disk: Disk, options: LevelOptions = {}): Promise<Store> {
  const { directory } = disk;
  try {
    const watermarkPath = layout(directory).watermark;
    const { durable, torn } = disk.inspection;
    const noted = await requireWatermark(watermarkPath, directory);
    const atLeast = Math.max(noted.revision, durable);
    const { versions, base } = await load(disk, atLeast, options.memoryBudget ?? Infinity);
    for (const text of torn) options.logger?.warn(tornEnd(text, versions.revision));
    // Reading everything mapped every table into memory; whatever is in memory by now need not be there twice.
    if (versions.revision > 0) await disk.reopen();
    const hub = new WatchHub(versions);
    const watermark = new Watermark(watermarkPath);
    if (noted.isEnd) await watermark.begin(versions.revision);
    const retention = new Retention({
      ...(options.historyAgeMs !== undefined && { ageMs: options.historyAgeMs }),
      ...(options.historyEvents !== undefined && { events: options.historyEvents }),
      ...(options.historyBytes !== undefined && { bytes: options.historyBytes }),
    });
    const writer = new Writer({ disk, versions, hub, base, retention, watermark, logger: options.logger });
    const { reserveBytes: bytes = DEFAULT_RESERVE, freeBytes: free, logger } = options;
    const reserve = new Reserve({ directory, bytes, free, logger });
    // Whoever opens a store on a nearly full disk is told so before anybody writes.
    await reserve.look(performance.now());
    const leases = new Leases(await readToken(disk.database, directory));
    return new LevelStore({ disk, versions, hub, writer, watermark, reserve, leases });
  } catch (error) {
    await disk.close();
    throw translate(error, directory);
  }
}

function tornEnd(what: string, revision: number): string {
  return `${what} could not be read; the store goes on after revision ${revision}. Writes that were under way when the process was killed look like this, and so does damage to the end of a log`;
}

interface Parts {
  disk: Disk;
  versions: Versions;
  hub: WatchHub;
  writer: Writer;
  watermark: Watermark;
  reserve: Reserve;
  leases: Leases;
}

class LevelStore implements Store {
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

  constructor({ disk, versions, hub, writer, watermark, reserve, leases }: Parts) {
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
