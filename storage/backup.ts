import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { markCreating, markReady } from './level/directory.ts';
import { layout, makeDirectory, readIfThere } from './level/files.ts';
import { takeOwnership } from './level/owner.ts';
import { writeDatabase } from './level/rebuild.ts';
import { decodeRecord, encodeEntry, recordKey } from './level/record.ts';
import { type Entry, type Store, StoreError } from './store.ts';

/**
 * A backup is: a line `atoll-backup 1 <revision>`, then per entry 4 bytes length and the record as LevelDB has
 * it (with checksum), then length 0, then a line `<entries> <sha256 of all before it>`.
 */
const MAGIC = 'atoll-backup 1';
const PAGE = 1000;

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

/** Writes a backup to `file`, which must not exist. */
export async function backup(store: Store, file: string): Promise<BackupReport> {
  const output = await open(file, 'wx', 0o600);
  try {
    const bytes = backupBytes(store);
    for (;;) {
      const { done, value } = await bytes.next();
      if (done) {
        await output.sync();
        return value;
      }
      await output.writeFile(value);
    }
  } finally {
    await output.close();
  }
}

/** Reads a backup to its end. Fails with `corrupt` when it is not a whole one. */
export async function checkBackup(file: string): Promise<BackupReport> {
  const { revision, entries } = await readBackup(file);
  return { revision, entries: entries.length };
}

/**
 * Makes a LevelDB store in `directory`, where none may be, of a backup. Its revision is `bump` further than the
 * backup's and all history counts as compacted: clients that saw later revisions than the backup list again
 * instead of silently going back in time. Fails with `corrupt` when the file is not a whole backup.
 */
export async function restore(file: string, directory: string, bump = 1_000_000_000): Promise<BackupReport> {
  const { revision, entries } = await readBackup(file);
  const { database, marker, owner } = layout(directory);
  await makeDirectory(directory);
  const release = await takeOwnership(owner);
  try {
    if ((await readIfThere(marker)) !== undefined) {
      throw new StoreError('exists', `there is a store in ${directory} already`);
    }
    await markCreating(directory);
    await writeDatabase(database, entries, revision + bump);
    await markReady(directory);
  } finally {
    await release();
  }
  return { revision: revision + bump, entries: entries.length };
}

function framed(record: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(record.length);
  return [length, record];
}

async function readBackup(file: string): Promise<{ revision: number; entries: Entry[] }> {
  const bytes = await open(file, 'r').then(async (input) => input.readFile().finally(() => input.close()));
  const damaged = (what: string) => new StoreError('corrupt', `${file} is not a whole backup: ${what}`);
  const headerEnd = bytes.indexOf('\n') + 1;
  const header = bytes.toString('latin1', 0, headerEnd).trimEnd();
  const revision = Number(header.slice(MAGIC.length + 1));
  if (!header.startsWith(`${MAGIC} `) || !Number.isSafeInteger(revision)) throw damaged('its first line');
  const entries: Entry[] = [];
  let at = headerEnd;
  for (;;) {
    if (at + 4 > bytes.length) throw damaged('it ends early');
    const length = bytes.readUInt32BE(at);
    at += 4;
    if (length === 0) break;
    const record = bytes.subarray(at, at + length);
    at += length;
    const decoded = length < 7 ? undefined : decodeRecord(recordKey(record.readUIntBE(1, 6)), record);
    if (decoded === undefined) throw damaged(`the record before byte ${at}`);
    const { key, value, revision: entryRevision, created } = decoded;
    entries.push({ key, value, revision: entryRevision, created });
  }
  const digest = createHash('sha256').update(bytes.subarray(0, at)).digest('hex');
  if (bytes.toString('latin1', at) !== `${entries.length} ${digest}\n`) throw damaged('its last line');
  return { revision, entries };
}
