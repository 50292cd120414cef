import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { markReady, markRestoring, refuseStore } from './level/directory.ts';
import { translate } from './level/errors.ts';
import { layout, makeDirectory } from './level/files.ts';
import { takeOwnership } from './level/owner.ts';
import { writeDatabase } from './level/rebuild.ts';
import { decodeRecord, encodeEntry, recordKey } from './level/record.ts';
import { type Entry, type Store, StoreError } from './store.ts';
import { writeWhole } from './whole-file.ts';

/**
 * A backup is: a line `atoll-backup 1 <revision>`, then per entry 4 bytes length and the record as LevelDB has
 * it (with checksum), then length 0, then a line `<entries> <sha256 of all before it>`.
 */
const MAGIC = 'atoll-backup 1';
const PAGE = 1000;
const PIECE = 1 << 20;

/** The bytes of a backup of all entries as of one revision. Works on a live store of any kind, which goes on. */
export async function* backupBytes(store: Store): AsyncGenerator<Buffer, BackupReport> {
  const { revision } = store;
  const digest = createHash('sha256');
  const told = (bytes: Buffer): Buffer => {
    digest.update(bytes);
    return bytes;
  };
  yield told(Buffer.from(`${MAGIC} ${revision}\n`));
  let entries = 0;
  let after: string | undefined;
  for (let more = true; more; ) {
    const options = { revision, limit: PAGE, ...(after !== undefined && { after }) };
    const page = await store.list({ start: '', end: '\x7f' }, options);
    yield told(Buffer.concat(page.entries.flatMap((entry) => framed(encodeEntry(entry)))));
    entries += page.entries.length;
    after = page.entries.at(-1)?.key;
    more = page.more;
  }
  yield told(Buffer.alloc(4));
  yield Buffer.from(`${entries} ${digest.digest('hex')}\n`);
  return { revision, entries };
}

export interface BackupReport {
  readonly revision: number;
  readonly entries: number;
}

/** Writes a backup to `file`: whole, or not at all. */
export async function backup(store: Store, file: string): Promise<BackupReport> {
  return writeWhole(file, async (output) => {
    const bytes = backupBytes(store);
    for (;;) {
      const { done, value } = await bytes.next();
      if (done) return value;
      await output.writeFile(value);
    }
  });
}

/** Reads a backup to its end. Fails with `corrupt` when it is not a whole one. */
export async function checkBackup(file: string): Promise<BackupReport> {
  const entries = readBackup(file);
  for (;;) {
    const { done, value } = await entries.next();
    if (done) return value;
  }
}

/**
 * Makes a LevelDB store in `directory`, where none may be, of a backup. Its revision is `bump` further than the
 * backup's and all history counts as compacted: clients that saw later revisions than the backup list again
 * instead of silently going back in time. `more`: what is in it beside, in place of what the backup has under these keys.
 * Until it has ended, nobody takes what is there for a store; it may be begun again.
 * Fails with `corrupt` when the file is not a whole backup.
 */
export async function restore(
  file: string,
  directory: string,
  { bump = 1_000_000_000, more = {} }: { bump?: number; more?: Readonly<Record<string, Uint8Array>> } = {},
): Promise<BackupReport> {
  // Nothing is made of half a backup.
  const { revision, entries } = await checkBackup(file);
  const { database, owner } = layout(directory);
  try {
    await makeDirectory(directory);
    const release = await takeOwnership(owner);
    try {
      await refuseStore(directory);
      await markRestoring(directory);
      await writeDatabase(database, withMore(readBackup(file), more, revision), revision + bump);
      await markReady(directory);
    } finally {
      await release();
    }
  } catch (error) {
    throw translate(error, directory);
  }
  return { revision: revision + bump, entries };
}

/** No two entries have one revision. */
async function* withMore(
  entries: AsyncIterable<Entry>,
  more: Readonly<Record<string, Uint8Array>>,
  newest: number,
): AsyncGenerator<Entry> {
  for await (const entry of entries) if (!Object.hasOwn(more, entry.key)) yield entry;
  let revision = newest;
  for (const [key, value] of Object.entries(more)) {
    revision++;
    yield { key, value, revision, created: revision };
  }
}

function framed(record: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(record.length);
  return [length, record];
}

/** Its entries, one after the other: a backup may be larger than memory. Fails with `corrupt`. */
async function* readBackup(file: string): AsyncGenerator<Entry, BackupReport> {
  const damaged = (what: string) => new StoreError('corrupt', `${file} is not a whole backup: ${what}`);
  const source = await open(file, 'r');
  try {
    const input = new Input(source);
    const header = (await input.line()) ?? '';
    const revision = Number(header.slice(MAGIC.length + 1));
    if (!header.startsWith(`${MAGIC} `) || !Number.isSafeInteger(revision)) throw damaged('its first line');
    let entries = 0;
    for (;;) {
      const length = (await input.take(4))?.readUInt32BE(0);
      if (length === 0) break;
      const record = length === undefined ? undefined : await input.take(length);
      if (record === undefined) throw damaged('it ends early');
      const decoded =
        record.length < 7 ? undefined : decodeRecord(recordKey(record.readUIntBE(1, 6)), record);
      if (decoded === undefined) throw damaged(`its record ${entries + 1}`);
      entries++;
      yield { key: decoded.key, value: decoded.value, revision: decoded.revision, created: decoded.created };
    }
    const digest = input.digest();
    if ((await input.line()) !== `${entries} ${digest}` || !(await input.isOver()))
      throw damaged('its last line');
    return { revision, entries };
  } finally {
    await source.close();
  }
}

/** A file from its beginning, piece by piece, and the digest of what was taken. */
class Input {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #ahead = Buffer.alloc(0);

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Undefined when there is not so much left. */
  async take(length: number): Promise<Buffer | undefined> {
    while (this.#ahead.length < length) if (!(await this.#more())) return undefined;
    const taken = this.#ahead.subarray(0, length);
    this.#ahead = this.#ahead.subarray(length);
    this.#hash.update(taken);
    return taken;
  }

  /** Without its end. Undefined when none comes soon. */
  async line(): Promise<string | undefined> {
    while (!this.#ahead.includes(10)) {
      if (this.#ahead.length > PIECE || !(await this.#more())) return undefined;
    }
    return (await this.take(this.#ahead.indexOf(10) + 1))?.toString('latin1').slice(0, -1);
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async isOver(): Promise<boolean> {
    return this.#ahead.length === 0 && !(await this.#more());
  }

  async #more(): Promise<boolean> {
    const piece = Buffer.allocUnsafe(PIECE);
    const { bytesRead } = await this.#file.read(piece, 0, PIECE);
    this.#ahead = Buffer.concat([this.#ahead, piece.subarray(0, bytesRead)]);
    return bytesRead > 0;
  }
}
