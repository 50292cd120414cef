import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BASE_KEY, decodeBase } from './base.ts';
import { readIfThere } from './files.ts';
import { checkTable, type RawEntry, readLog, readManifest, readTable } from './ldb-files.ts';
import { RECORDS, revisionOf } from './record.ts';

export const TABLE = /\.(ldb|sst)$/;
export const LOG = /\.log$/;

/** What the files of a database say that LevelDB does not. */
export interface Inspection {
  /** What is wrong, a sentence each: LevelDB must not open these. */
  readonly problems: readonly string[];
  /** A revision that was certainly durable. */
  readonly durable: number;
  /** Parts of logs that cannot be read: writes that a crash cut off, or damage that looks the same. */
  readonly torn: readonly string[];
}

export const NOTHING: Inspection = { problems: [], durable: 0, torn: [] };

/**
 * Looks at the files of a database that nobody has open, and changes nothing. Of the tables those count that the
 * MANIFEST names: a crash leaves others half made. A MANIFEST that cannot be read is for LevelDB to refuse.
 */
export async function inspect(database: string): Promise<Inspection> {
  const manifest = await currentManifest(database);
  if (manifest === undefined) return NOTHING;
  const { tables, log } = manifest;
  const problems: string[] = [];
  // One for all tables: a large database would leave much to collect.
  let buffer = Buffer.alloc(0);
  for (const name of await databaseFiles(database, TABLE)) {
    const size = tables.get(Number.parseInt(name, 10));
    if (size === undefined) continue;
    const problem = (text: string): unknown => problems.push(`${name}: ${text}`);
    if (buffer.length <= size) buffer = Buffer.allocUnsafe(size + 1);
    const length = await readInto(buffer, join(database, name));
    if (length === size) checkTable(buffer.subarray(0, size), problem);
    else problem(`it has ${length > size ? 'more' : length} bytes, not ${size}`);
  }
  return inspectLogs(database, problems, log);
}

/** The one that counts, with its file's name; undefined where CURRENT names none. */
export async function currentManifest(database: string) {
  const current = (await readIfThere(join(database, 'CURRENT'))) ?? '';
  if (!/^MANIFEST-\d+\n$/.test(current)) return undefined;
  const name = current.trimEnd();
  return { name, ...readManifest(await readFile(join(database, name)).catch(() => Buffer.alloc(0))) };
}

/** How many bytes there were for it: no more than fit. */
async function readInto(buffer: Buffer, path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    let length = 0;
    for (let bytesRead = 1; bytesRead > 0 && length < buffer.length; length += bytesRead) {
      ({ bytesRead } = await file.read(buffer, length, buffer.length - length));
    }
    return length;
  } finally {
    await file.close();
  }
}

/** `oldest`: the number of the log that must be there. */
async function inspectLogs(
  database: string,
  problems: string[],
  oldest: number | undefined,
): Promise<Inspection> {
  const logs = await databaseFiles(database, LOG);
  if (oldest !== undefined && !logs.some((name) => Number.parseInt(name, 10) === oldest)) {
    problems.push(`the log ${oldest} is missing`);
  }
  const torn: string[] = [];
  let durable = 0;
  let newest = 0;
  for (const name of logs) {
    const holes: number[] = [];
    for (const batch of readLog(await readFile(join(database, name)), (at) => holes.push(at))) {
      const before = durableBefore(batch);
      durable = Math.max(durable, before);
      if (holes.length > 0) {
        // LevelDB would throw away what comes behind the hole, and then the log: the repair needs it.
        newest ||= await newestInTables(database);
        if (before > newest)
          problems.push(`${name} from byte ${holes[0]} on: revision ${before} was acknowledged`);
      }
      newest = Math.max(newest, before, ...revisionsOf(batch));
    }
    if (holes[0] !== undefined) torn.push(`${name} from byte ${holes[0]} on`);
  }
  return { problems, durable, torn };
}

async function newestInTables(database: string): Promise<number> {
  let newest = 0;
  for (const name of await databaseFiles(database, TABLE)) {
    for (const raw of readTable(await readFile(join(database, name)))) {
      newest = Math.max(newest, ...revisionsOf([raw]));
    }
  }
  return newest;
}

/** Of the records that a batch makes. */
function revisionsOf(batch: readonly RawEntry[]): number[] {
  return batch
    .filter(({ key, value }) => value !== undefined && key >= RECORDS.gte && key < RECORDS.lt)
    .map(({ key }) => revisionOf(key));
}

/** A batch begins only when the one before it is durable, and their revisions have no gap. */
function durableBefore(batch: readonly RawEntry[]): number {
  const base = batch.findLast(({ key }) => key === BASE_KEY)?.value;
  const newest = (base && decodeBase(base)?.newest) ?? 0;
  const revisions = revisionsOf(batch);
  return revisions.length === 0 ? newest : Math.max(newest, Math.min(...revisions) - 1);
}

export async function databaseFiles(database: string, pattern: RegExp): Promise<string[]> {
  const all = await readdir(database).catch(() => []);
  return all.filter((name) => pattern.test(name)).sort();
}
