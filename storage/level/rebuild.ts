import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Entry } from '../store.ts';
import { BASE_KEY, baseOf, encodeBase } from './base.ts';
import { openDatabase } from './disk.ts';
import { syncDirectory } from './files.ts';
import { encodeEntry, recordKey } from './record.ts';

const BATCH = 500;

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

/** Puts `fresh` where `database` is; the old one, if there is one, is kept under the name that is answered. */
export async function swapDatabase(database: string, fresh: string): Promise<string | undefined> {
  const kept = `${database}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  const isThere = existsSync(database);
  if (isThere) await rename(database, kept);
  await rename(fresh, database);
  await syncDirectory(dirname(database));
  return isThere ? kept : undefined;
}
