import { Level } from 'level';
import type { Entry, StoreEvent } from '../store.ts';
import { advance, BASE_KEY, type Base, EMPTY_BASE, encodeBase, superseded } from './base.ts';
import { isNewStore, markReady } from './directory.ts';
import { corrupt, translate } from './errors.ts';
import { layout, makeDirectory } from './files.ts';
import { type Inspection, inspect, NOTHING } from './inspect.ts';
import { Names } from './names.ts';
import { takeOwnership } from './owner.ts';
import { decodeRecord, encoder, recordKey } from './record.ts';
import type { Database } from './scan.ts';

interface DiskParts {
  readonly directory: string;
  readonly sync: boolean;
  readonly release: () => Promise<void>;
  readonly db: Database;
  readonly inspection: Inspection;
}

/** The files of one store, held by this process. All that writes goes through here, one call at a time. */
export class Disk {
  readonly directory: string;
  /** What its files told before it was opened. */
  readonly inspection: Inspection;
  readonly #sync: boolean;
  readonly #release: () => Promise<void>;
  #names: Names;
  readonly #encode = encoder();
  #db: Database;

  constructor({ directory, sync, release, db, inspection }: DiskParts) {
    this.directory = directory;
    this.inspection = inspection;
    this.#sync = sync;
    this.#release = release;
    this.#db = db;
    this.#names = new Names(layout(directory).database);
  }

  get database(): Database {
    return this.#db;
  }

  /** Resolves when all the events would survive a power cut. After a failure only `reopen` makes sense. */
  async commit(events: readonly StoreEvent[]): Promise<void> {
    // A chained batch costs a third of what an array of operations does, and copies what it is given at once.
    const batch = this.#db.batch();
    for (const event of events) batch.put(recordKey(event.entry.revision), this.#encode(event));
    await batch.write({ sync: this.#sync });
    if (this.#sync) await this.#names.settle();
  }

  /**
   * Forgets the oldest events of the history, which goes up to `newest`, and answers the base that describes what is left. Does not wait
   * for the disk: a power cut may bring the history back, whole, which harms nobody.
   */
  async forget(base: Base, events: readonly StoreEvent[], newest: number): Promise<Base> {
    const next = advance(base, events, newest);
    const batch = this.#db.batch();
    for (const revision of superseded(events)) batch.del(recordKey(revision));
    await batch.put(BASE_KEY, encodeBase(next)).write({ sync: false });
    this.#names.pass();
    return next;
  }

  /** The entries with the values of their records; undefined for a record that is not there. Fails with `corrupt`. */
  async values(entries: readonly Entry[]): Promise<(Entry | undefined)[]> {
    try {
      const keys = entries.map((entry) => recordKey(entry.revision));
      const records = await this.#db.getMany(keys);
      return entries.map((entry, i) => this.#entry(entry, records[i]));
    } catch (error) {
      throw translate(error, this.directory);
    }
  }

  /** As `values` for one entry, without giving anybody else a turn: for the time before the store is open. */
  value(entry: Entry): Entry | undefined {
    return this.#entry(entry, this.#db.getSync(recordKey(entry.revision)));
  }

  #entry(entry: Entry, bytes: Buffer | undefined): Entry | undefined {
    if (bytes === undefined) return undefined;
    const record = decodeRecord(recordKey(entry.revision), bytes);
    if (record?.key === entry.key) return { ...entry, value: record.value };
    throw corrupt(this.directory, `record ${recordKey(entry.revision)} does not match its checksum`);
  }

  /** Puts a value that is no record; resolves when it would survive a power cut. */
  async note(key: string, value: Buffer): Promise<void> {
    await this.#db.put(key, value, { sync: this.#sync });
    if (this.#sync) await this.#names.settle();
  }

  /** LevelDB goes on after a failed write as if the torn end of its log did not matter; a new start does not. */
  async reopen(): Promise<void> {
    await this.#db.close();
    const { database } = layout(this.directory);
    this.#db = await openDatabase(database, false);
    this.#names = new Names(database);
  }

  async close(): Promise<void> {
    await this.#db.close();
    await this.#release();
  }
}

/** Takes the directory and opens, or first makes, its database. Fails with `corrupt`, `full` or `unavailable`. */
export async function openDisk(directory: string, sync: boolean): Promise<Disk> {
  let release: (() => Promise<void>) | undefined;
  try {
    await makeDirectory(directory);
    release = await takeOwnership(layout(directory).owner);
    const isNew = await isNewStore(directory);
    // LevelDB looks at no checksum of a table, and some damage makes it end the whole process.
    const inspection = isNew ? NOTHING : await inspect(layout(directory).database);
    const [problem] = inspection.problems;
    if (problem !== undefined) throw corrupt(directory, problem);
    const db = await openDatabase(layout(directory).database, isNew);
    if (isNew) {
      await db.put(BASE_KEY, encodeBase(EMPTY_BASE), { sync: true });
      await markReady(directory);
    }
    return new Disk({ directory, sync, release, db, inspection });
  } catch (error) {
    await release?.();
    throw translate(error, directory);
  }
}

export async function openDatabase(path: string, create: boolean): Promise<Database> {
  const db: Database = new Level(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
  // Compression hides nothing here and costs time; a checksum guards each record.
  await db.open({ createIfMissing: create, errorIfExists: create, compression: false });
  return db;
}
