import { StoreError } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Keys } from './keys.ts';
import { pause } from './pause.ts';
import { openStream, type StreamEnd } from './stream.ts';
import { compact as compactMethod, number, range, txn } from './wire.ts';

const PROBE_MS = 20;
const SWEEP_PAGE = 500;
const ATTEMPTS = 20;

/** Makes etcd forget; false when it had forgotten that much before. */
export async function compactTo(connection: Connection, revision: number): Promise<boolean> {
  try {
    await connection.call(compactMethod, { revision, physical: false });
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return false;
    throw error;
  }
}

/**
 * The revision up to which etcd has forgotten, at least `known`. etcd tells it only to a watch that comes too late,
 * so this watches a key that nobody writes.
 */
export async function compactedRevision(connection: Connection, keys: Keys, known: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const end = await probe(connection, keys, known);
    if (end.why === 'compacted') return end.revision;
    if (end.why === 'stopped') return known;
    if (attempt >= ATTEMPTS || connection.signal.aborted) {
      throw new StoreError('unavailable', `etcd: ${end.error.message}`);
    }
    await pause(100, connection.signal);
  }
}

/** `stopped`: nothing more was compacted. */
async function probe(connection: Connection, keys: Keys, known: number): Promise<StreamEnd> {
  let current: (() => void) | undefined;
  const create = { key: keys.nothing, startRevision: known + 1 };
  const stream = await openStream(connection, create, (response) => {
    if (!response.created) current?.();
  });
  current = stream.stop;
  const ask = setInterval(() => stream.progress(), PROBE_MS);
  return stream.ended.finally(() => clearInterval(ask));
}

/** Removes the slots (see write.ts) that were last used at or before `revision`: their servers are gone or idle. */
export async function sweepSlots(connection: Connection, keys: Keys, revision: number): Promise<void> {
  const key = keys.meta('writers/');
  const bounds = { key, rangeEnd: keys.meta('writers0'), keysOnly: true };
  const old = await connection.call(range, { ...bounds, maxModRevision: revision, limit: SWEEP_PAGE });
  for (const kv of old.kvs) {
    const modRevision = number(kv.modRevision);
    await connection.call(txn, {
      compare: [{ result: 0, target: 2, key: kv.key, modRevision }],
      success: [{ delete: { key: kv.key } }],
      failure: [],
    });
  }
}
