import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry } from '../store.ts';
import { BASE_KEY, type Base, baseOf, decodeBase } from './base.ts';
import { readIfThere } from './files.ts';
import { checkTable, liveTables, type RawEntry, type RawVisitor, readLog, readTable } from './ldbfiles.ts';
import { decodeRecord, type StoredRecord } from './record.ts';

const TABLE = /\.(ldb|sst)$/;
const LOG = /\.log$/;

/**
 * What is wrong with the tables of a database that nobody has open, a sentence each. Only with those that its
 * MANIFEST names: a crash leaves others half made. A MANIFEST that cannot be read is for LevelDB to refuse.
 */
export async function checkTables(database: string): Promise<string[]> {
  const current = (await readIfThere(join(database, 'CURRENT'))) ?? '';
  if (!/^MANIFEST-\d+\n$/.test(current)) return [];
  const manifest = await readFile(join(database, current.trimEnd())).catch(() => Buffer.alloc(0));
  const live = liveTables(manifest);
  const problems: string[] = [];
  for (const name of await names(database, TABLE)) {
    const size = live.get(Number.parseInt(name, 10));
    if (size === undefined) continue;
    const bytes = await readFile(join(database, name));
    const problem = (text: string): unknown => problems.push(`${name}: ${text}`);
    if (bytes.length === size) checkTable(bytes, problem);
    else problem(`it has ${bytes.length} bytes, not ${size}`);
  }
  return problems;
}

export interface Salvage {
  /** Of each key the newest readable version. */
  readonly entries: readonly Entry[];
  /** Of all readable records. */
  readonly revisions: ReadonlySet<number>;
  readonly newest: number;
  /** The newest readable one. */
  readonly base: Base | undefined;
  /** Whether the records at or before the base are those that it counted. */
  readonly baseIsWhole: boolean;
}

/** Reads what is readable in the files of a database, without LevelDB, and changes nothing. */
export async function salvage(database: string): Promise<Salvage> {
  const newestRaw = new Map<string, RawEntry>();
  const visitor: RawVisitor = {
    entry(raw) {
      const other = newestRaw.get(raw.key);
      if (other === undefined || other.sequence < raw.sequence) newestRaw.set(raw.key, raw);
    },
  };
  for (const name of await names(database, TABLE)) readTable(await readFile(join(database, name)), visitor);
  for (const name of await names(database, LOG)) readLog(await readFile(join(database, name)), visitor);
  const base = decodeBase(newestRaw.get(BASE_KEY)?.value);
  const records = [...newestRaw.values()]
    .flatMap(({ key, value }) => (value === undefined ? [] : [decodeRecord(key, value)]))
    .filter((record) => record !== undefined)
    .sort((a, b) => a.revision - b.revision);
  return { ...sum(records, base?.compacted ?? 0, base), base };
}

function sum(records: readonly StoredRecord[], compacted: number, base: Base | undefined) {
  const byKey = new Map(records.map((record) => [record.key, record]));
  const older = records.map(({ revision }) => revision).filter((revision) => revision <= compacted);
  const actual = baseOf(compacted, older);
  return {
    entries: [...byKey.values()]
      .filter(({ type }) => type === 'put')
      .map(({ key, value, revision, created }): Entry => ({ key, value, revision, created })),
    revisions: new Set(records.map(({ revision }) => revision)),
    newest: Math.max(compacted, records.at(-1)?.revision ?? 0),
    baseIsWhole: base !== undefined && actual.count === base.count && actual.sum === base.sum,
  };
}

async function names(database: string, pattern: RegExp): Promise<string[]> {
  const all = await readdir(database).catch(() => []);
  return all.filter((name) => pattern.test(name)).sort();
}
