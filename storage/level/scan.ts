import type { Level } from 'level';
import { BASE_KEY, type Base, baseOf, decodeBase } from './base.ts';
import { decodeRecord, RECORDS, recordKey, type StoredRecord } from './record.ts';

export type Database = Level<string, Buffer>;

/** What a reader of all records does with them. Throwing from either ends the scan. */
export interface Visitor {
  record(record: StoredRecord): void;
  /** One thing that is wrong with the database. */
  problem(text: string): void;
}

const READ_AHEAD = 1000;

export async function readBase(db: Database): Promise<Base | undefined> {
  return decodeBase(await db.get(BASE_KEY));
}

/**
 * Reads every record in the order of revisions and checks all that can be checked: each record's checksum,
 * the number and sum of the records of the base, and that the history after it has no gap.
 */
export async function scan(db: Database, base: Base, visitor: Visitor): Promise<void> {
  const found: number[] = [];
  let newest = base.compacted;
  const iterator = db.iterator({ ...RECORDS, highWaterMarkBytes: 1 << 20 });
  try {
    for (
      let batch = await iterator.nextv(READ_AHEAD);
      batch.length > 0;
      batch = await iterator.nextv(READ_AHEAD)
    ) {
      for (const [key, bytes] of batch) {
        const record = decodeRecord(key, bytes);
        if (record === undefined) {
          visitor.problem(`record ${key} does not match its checksum`);
          continue;
        }
        if (record.revision <= base.compacted) found.push(record.revision);
        else {
          if (record.revision !== newest + 1) visitor.problem(gap(newest, record.revision));
          newest = record.revision;
        }
        visitor.record(record);
      }
    }
  } finally {
    await iterator.close();
  }
  const actual = baseOf(base.compacted, found);
  if (actual.count !== base.count || actual.sum !== base.sum) {
    visitor.problem(
      `${base.count} records should be at or before revision ${base.compacted}; found ${actual.count}, or others`,
    );
  }
}

function gap(before: number, after: number): string {
  return `after record ${recordKey(before)} comes ${recordKey(after)}`;
}
