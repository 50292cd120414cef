import { type Entry, StoreError } from '../store.ts';
import type { Cache } from './cache.ts';
import type { Connection } from './connection.ts';
import type { Keys } from './keys.ts';
import { newestRevision, readOne } from './read.ts';

/**
 * Why etcd has another history than `cache`, or undefined: it was restored from a backup, and others may have written
 * so much since that its revision alone does not tell. What was put last is there as of then, or it is not.
 */
export async function setBack(
  connection: Pick<Connection, 'call'>,
  keys: Keys,
  { newest: last, versions }: Pick<Cache, 'newest' | 'versions'>,
): Promise<string | undefined> {
  const { revision } = versions;
  const newest = await newestRevision(connection, keys);
  if (newest < revision) return wentBack(revision, newest);
  if (last === undefined) return undefined;
  const there = await asOfThen(connection, keys, last);
  return there === 'forgotten' || isSame(there, last)
    ? undefined
    : `${last.key} is not what it was at revision ${last.revision}`;
}

export function wentBack(before: number, newest: number): string {
  return `etcd went back from revision ${before} to ${newest}`;
}

async function asOfThen(connection: Pick<Connection, 'call'>, keys: Keys, { key, revision }: Entry) {
  try {
    return (await readOne(connection, keys, key, revision)).entry;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return 'forgotten';
    throw error;
  }
}

function isSame(there: Entry | undefined, { revision, value }: Entry): boolean {
  return there?.revision === revision && Buffer.compare(there.value, value) === 0;
}
