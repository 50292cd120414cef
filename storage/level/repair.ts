import { Level } from 'level';
import type { Entry } from '../store.ts';
import { markReady } from './directory.ts';
import { openDatabase } from './disk.ts';
import { translate } from './errors.ts';
import { layout } from './files.ts';
import { takeOwnership } from './owner.ts';
import { swapDatabase, writeDatabase } from './rebuild.ts';
import type { StoredRecord } from './record.ts';
import { type Database, readBase, scan } from './scan.ts';
import { verifyLevel } from './verify.ts';
import { readWatermark } from './watermark.ts';

export interface RepairReport {
  /** What was wrong; empty when there was nothing to repair, and nothing was changed. */
  readonly problems: readonly string[];
  /** How many entries the store has now. */
  readonly entries: number;
  readonly revision: number;
  /** Where the damaged database was put aside. */
  readonly kept?: string;
}

/** Far beyond whatever was acknowledged after the last revision that is left, so that none is given twice. */
const BUMP = 1_000_000;

/**
 * Saves what is readable of a damaged store that nobody has open. Of each key the newest readable version
 * stays; what was lost cannot be known. History is gone: watchers list again. The damaged database is kept.
 */
export async function repairLevel(directory: string): Promise<RepairReport> {
  const { problems, revision, ok, records } = await verifyLevel(directory);
  if (ok) return { problems, entries: records, revision };
  const { database, owner, watermark } = layout(directory);
  const release = await takeOwnership(owner);
  try {
    const db = await openAnyhow(database);
    const found = await salvage(db).finally(() => db.close());
    const bumped = Math.max(found.newest, await readWatermark(watermark)) + BUMP;
    const fresh = `${database}.repaired`;
    await writeDatabase(fresh, found.entries, bumped);
    const kept = await swapDatabase(database, fresh);
    await markReady(directory);
    return { problems, entries: found.entries.length, revision: bumped, kept };
  } catch (error) {
    throw translate(error, directory);
  } finally {
    await release();
  }
}

async function openAnyhow(database: string): Promise<Database> {
  try {
    return await openDatabase(database, false);
  } catch {
    await repairDatabase(database);
    return openDatabase(database, false);
  }
}

async function salvage(db: Database): Promise<{ entries: Entry[]; newest: number }> {
  const base = (await readBase(db)) ?? { compacted: 0, count: 0, sum: 0 };
  const byKey = new Map<string, StoredRecord>();
  let newest = base.compacted;
  await scan(db, base, {
    record(record) {
      newest = Math.max(newest, record.revision);
      byKey.set(record.key, record);
    },
    problem() {},
  });
  const entries: Entry[] = [];
  for (const { type, key, value, revision, created } of byKey.values()) {
    if (type === 'put') entries.push({ key, value, revision, created });
  }
  return { entries, newest };
}

/** LevelDB's own repair: finds the tables and logs again. Its types leave out the static methods. */
function repairDatabase(path: string): Promise<void> {
  const repair: unknown = Reflect.get(Level, 'repair');
  if (typeof repair !== 'function') throw new TypeError('this build of LevelDB cannot repair');
  return repair.call(Level, path);
}
