import { isOnDisk } from '../residency.ts';
import type { StoreEvent } from '../store.ts';
import { Versions } from '../versions.ts';
import type { Base } from './base.ts';
import type { Disk } from './disk.ts';
import { corrupt } from './errors.ts';
import { packer } from './pack.ts';
import type { StoredRecord } from './record.ts';
import { type Database, readBase, scan } from './scan.ts';

/** What a database holds: all of it, checked. */
export interface Loaded {
  readonly versions: Versions;
  readonly base: Base;
}

/** Fails with `corrupt` at the first thing that is wrong, also when a revision up to `atLeast` is not there. */
export async function load(disk: Disk, atLeast: number, budget: number): Promise<Loaded> {
  const { database: db, directory } = disk;
  const base = await requireBase(db, directory);
  const versions = new Versions(base.compacted, { budget });
  // Values that a budget may send away again free their memory one by one.
  const pack = budget === Infinity ? packer() : undefined;
  await scan(db, base, {
    record(found) {
      const record = pack === undefined ? found : { ...found, value: pack(found.value) };
      if (record.revision <= base.compacted) versions.seed(entryOf(record));
      else versions.apply(eventOf(record, versions, disk));
    },
    problem(text) {
      throw corrupt(directory, text);
    },
  });
  checkNewest(versions.revision, Math.max(atLeast, base.newest ?? 0), directory);
  return { versions, base };
}

/**
 * After a failed write: checks the whole database again, and brings `versions` up to it. What was written but
 * never acknowledged becomes visible then, and `tell` is told before anybody else has a turn: an answer must not
 * name a revision that watchers do not know of.
 */
export async function catchUp(
  disk: Disk,
  versions: Versions,
  tell: (events: readonly StoreEvent[]) => void,
): Promise<Loaded> {
  const { database: db, directory } = disk;
  const base = await requireBase(db, directory);
  const newer: StoredRecord[] = [];
  let newest = base.compacted;
  await scan(db, base, {
    record(record) {
      newest = Math.max(newest, record.revision);
      if (record.revision > versions.revision) newer.push(record);
    },
    problem(text) {
      throw corrupt(directory, text);
    },
  });
  checkNewest(newest, versions.revision, directory);
  const events = newer.map((record) => {
    const event = eventOf(record, versions, disk);
    versions.apply(event);
    return event;
  });
  tell(events);
  if (base.compacted > versions.compacted) versions.compact(base.compacted);
  return { versions, base };
}

async function requireBase(db: Database, directory: string): Promise<Base> {
  const base = await readBase(db);
  if (base === undefined)
    throw corrupt(directory, 'its base record is missing or does not match its checksum');
  return base;
}

function checkNewest(newest: number, atLeast: number, directory: string): void {
  if (newest >= atLeast) return;
  throw corrupt(directory, `revision ${atLeast} was acknowledged, but the newest that is left is ${newest}`);
}

function eventOf(record: StoredRecord, versions: Versions, disk: Disk): StoreEvent {
  const there = versions.get(record.key);
  const previous = there !== undefined && isOnDisk(there) ? disk.value(there) : there;
  if ((previous?.revision ?? 0) !== record.previous || (record.type === 'delete' && previous === undefined)) {
    const problem = `revision ${record.revision} replaces ${record.previous} of ${record.key}, which is at ${previous?.revision ?? 0}`;
    throw corrupt(disk.directory, problem);
  }
  const entry = entryOf(record);
  if (previous === undefined) return { type: 'put', entry };
  return record.type === 'put'
    ? { type: 'put', entry, previous }
    : { type: 'delete', entry: { ...previous, revision: record.revision }, previous };
}

function entryOf({ key, value, revision, created }: StoredRecord) {
  return { key, value, revision, created };
}
