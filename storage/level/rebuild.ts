import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Entry } from '../store.ts';
import { BASE_KEY, baseOf, encodeBase } from './base.ts';
import { openDatabase } from './disk.ts';
import { syncDirectory } from './files.ts';
import { databaseFiles, LOG, TABLE } from './inspect.ts';
import { encodeEntry, recordKey } from './record.ts';

const BATCH = 500;
/** Before the time at which it was put aside. */
const KEPT = '.damaged-';

/**
 * Writes a fresh database that holds only current entries, as if history up to `compacted` were forgotten;
 * so every watcher from before has to list again. `compacted` is at or after all the entries' revisions.
 */
export async function writeDatabase(
  path: string,
  entries: Iterable<Entry> | AsyncIterable<Entry>,
  compacted: number,
): Promise<void> {
  await rm(path, { recursive: true, force: true });
  const db = await openDatabase(path, true);
  try {
    const revisions: number[] = [];
    let batch = db.batch();
    for await (const entry of entries) {
      batch.put(recordKey(entry.revision), encodeEntry(entry));
      revisions.push(entry.revision);
      if (batch.length < BATCH) continue;
      await batch.write({ sync: true });
      batch = db.batch();
    }
    await batch.write({ sync: true });
    await db.put(BASE_KEY, encodeBase(baseOf(compacted, revisions)), { sync: true });
  } finally {
    await db.close();
  }
}

/** A swap that was stopped put the old one aside, and `fresh` not yet in its place: undoes that. */
export async function undoSwap(database: string, fresh: string): Promise<void> {
  const files = [...(await databaseFiles(database, TABLE)), ...(await databaseFiles(database, LOG))];
  if (files.length > 0 || !existsSync(fresh)) return;
  const folder = dirname(database);
  const kept = (await readdir(folder)).filter((name) => name.startsWith(basename(database) + KEPT)).sort();
  const last = kept.at(-1);
  if (last === undefined) return;
  await rm(database, { recursive: true, force: true });
  await rename(join(folder, last), database);
}

/** Puts `fresh` where `database` is; the old one, if there is one, is kept under the name that is answered. */
export async function swapDatabase(database: string, fresh: string): Promise<string | undefined> {
  const kept = `${database}${KEPT}${new Date().toISOString().replace(/[:.]/g, '-')}`;
  const isThere = existsSync(database);
  if (isThere) await rename(database, kept);
  await rename(fresh, database);
  await syncDirectory(dirname(database));
  return isThere ? kept : undefined;
}
