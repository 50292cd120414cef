import { randomUUID } from 'node:crypto';
import { type Lease, StoreError } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Keys } from './keys.ts';
import { keepAliveOnce } from './lease.ts';
import { grant, type Int64, number, range, revoke, txn } from './wire.ts';

/** etcd takes no shorter lease by default: one and a half election timeouts. */
const SHORTEST_SECONDS = 2;
const SILENCE_MS = 5000;

/** Where a named lease is in etcd. Its key hangs on etcd's own lease, its revision is the fencing token. */
export function termKey(keys: Keys, name: string): Uint8Array {
  return keys.meta(`leases/${name}`);
}

/** See Store.acquire. */
export async function acquireTerm(
  connection: Connection,
  keys: Keys,
  name: string,
  ttlMs: number,
): Promise<Lease | undefined> {
  const key = termKey(keys, name);
  // Asked first: who only waits for somebody else's end makes etcd write nothing.
  if ((await connection.call(range, { key, keysOnly: true })).kvs.length > 0) return undefined;
  const ttl = Math.max(SHORTEST_SECONDS, Math.ceil(ttlMs / 1000));
  const { id } = await connection.call(grant, { ttl });
  const release = async (): Promise<void> => {
    await connection.once(revoke, { id }, performance.now() + 1000).catch(() => undefined);
  };
  try {
    const value = Buffer.from(randomUUID());
    const answer = await connection.call(txn, {
      compare: [{ result: 0, target: 2, key, modRevision: 0 }],
      success: [{ put: { key, value, lease: id } }],
      failure: [{ range: { key } }],
    });
    // An earlier attempt whose answer was lost may have put it.
    const there = answer.responses[0]?.range?.kvs[0];
    const mine = there !== undefined && Buffer.compare(there.value, value) === 0;
    if (answer.succeeded || mine) {
      const token = number(mine ? there.modRevision : answer.header.revision);
      return { name, token, release, keepAlive: async () => extend(connection, id) };
    }
  } catch (error) {
    await release();
    throw error;
  }
  await release();
  return undefined;
}

async function extend(connection: Connection, id: Int64): Promise<boolean> {
  try {
    return (await keepAliveOnce(connection, id, SILENCE_MS)) > 0;
  } catch (cause) {
    throw new StoreError('unavailable', 'etcd: whether the lease lives is not known', { cause });
  }
}
