import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry } from '../store.ts';
import { BASE_KEY, type Base, baseOf, decodeBase } from './base.ts';
import { databaseFiles, LOG, TABLE } from './inspect.ts';
import { type RawEntry, readLog, readTable } from './ldb-files.ts';
import { decodeRecord, type StoredRecord } from './record.ts';

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
  const see = (raw: RawEntry): void => {
    const other = newestRaw.get(raw.key);
    if (other === undefined || other.sequence < raw.sequence) newestRaw.set(raw.key, raw);
  };
  for (const name of await databaseFiles(database, TABLE)) {
    for (const raw of readTable(await readFile(join(database, name)))) see(raw);
  }
  for (const name of await databaseFiles(database, LOG)) {
    for (const batch of readLog(await readFile(join(database, name)), () => {})) batch.forEach(see);
  }
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
