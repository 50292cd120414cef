import { setTimeout as sleep } from 'node:timers/promises';
import { Comparison } from '../comparison.ts';
import type { CheckReport, Entry } from '../store.ts';
import type { Versions } from '../versions.ts';
import type { WatchHub } from '../watch-hub.ts';
import type { Disk } from './disk.ts';
import { decodeRecord, RECORDS, revisionOf, type StoredRecord } from './record.ts';

const BATCH = 500;
/** For each millisecond of work so many of rest. */
const REST = 3;

export interface CheckParts {
  disk: Disk;
  versions: Versions;
  hub: WatchHub;
  signal: AbortSignal;
}

/** See Store.check. Reads every record, a few at a time. */
export async function checkLevel({ disk, versions, hub, signal }: CheckParts): Promise<CheckReport> {
  const comparison = new Comparison(versions, hub);
  // These two belong together: the iterator shows the database as it is now.
  const started = comparison.start();
  const iterator = disk.database.iterator({ ...RECORDS, highWaterMarkBytes: 1 << 20 });
  /** The newest record of each key whose current entry is not what memory has. */
  const odd = new Map<string, StoredRecord>();
  let damaged = 0;
  try {
    await started;
    for (;;) {
      const batch = await iterator.nextv(BATCH);
      if (batch.length === 0) break;
      const began = performance.now();
      for (const [key, bytes] of batch) {
        const record = decodeRecord(key, bytes);
        if (record === undefined) {
          damaged++;
          comparison.spare(revisionOf(key));
        } else if (record.revision <= comparison.revision) look(comparison, odd, record);
      }
      await sleep((performance.now() - began) * REST, undefined, { signal });
    }
    for (const record of odd.values()) {
      if (record.type === 'put') comparison.see(entryOf(record));
      else comparison.miss(record.key);
    }
    await comparison.finish();
    comparison.mend();
  } finally {
    comparison.stop();
    await iterator.close();
  }
  return comparison.report(damaged);
}

/** Records come in the order of revisions: the last one of a key says what the key is. */
function look(comparison: Comparison, odd: Map<string, StoredRecord>, record: StoredRecord): void {
  const there = comparison.remembered(record.key);
  const current = record.type === 'put' ? there?.revision === record.revision : there === undefined;
  if (!current) {
    odd.set(record.key, record);
    return;
  }
  odd.delete(record.key);
  if (record.type === 'put') comparison.see(entryOf(record));
}

function entryOf({ key, value, revision, created }: StoredRecord): Entry {
  return { key, value, revision, created };
}
