import { hostname } from 'node:os';
import { compactedRevision, compactTo, sweepSlots } from './compaction.ts';
import type { Connection } from './connection.ts';
import { isDenied } from './errors.ts';
import type { Keys } from './keys.ts';
import { holdLease, type Lease } from './lease.ts';
import type { CompactionOptions, EtcdLogger } from './options.ts';
import { pause } from './pause.ts';
import { newestRevision } from './read.ts';
import { range, txn } from './wire.ts';

const mayNot =
  'the user for etcd may not compact it, which takes the role root: unless etcd compacts itself, it grows until it is full';

export interface CompactorParts {
  connection: Connection;
  keys: Keys;
  options: CompactionOptions;
  logger: EtcdLogger | undefined;
  /** What is known to be gone. */
  compacted: () => number;
  onCompacted: (revision: number) => void;
}

/**
 * Of all servers on one etcd the one that holds the lease makes etcd forget what is older than the interval; the
 * others look what it did, and take over when it is gone. Two at once would do no harm. Ends with the connection.
 */
export async function runCompactor(parts: CompactorParts): Promise<void> {
  const { connection, keys, options, logger } = parts;
  while (!connection.signal.aborted) {
    try {
      const lease = await elect(parts);
      if (lease === undefined) {
        parts.onCompacted(await compactedRevision(connection, keys, parts.compacted()));
      } else {
        await lead(parts, lease).finally(() => lease.release());
      }
    } catch (error) {
      if (!connection.signal.aborted) logger?.warn({ err: error }, 'etcd compaction is tried again');
    }
    await pause(options.leaseSeconds * 500, connection.signal);
  }
}

/** The lease of the elected; undefined when it is somebody else. */
async function elect({ connection, keys, options }: CompactorParts): Promise<Lease | undefined> {
  const key = keys.meta('compactor');
  if ((await connection.call(range, { key, keysOnly: true })).kvs.length > 0) return undefined;
  const lease = await holdLease(connection, options.leaseSeconds);
  try {
    const answer = await connection.call(txn, {
      compare: [{ result: 0, target: 2, key, modRevision: 0 }],
      success: [{ put: { key, value: Buffer.from(`${hostname()} ${process.pid}`), lease: lease.id } }],
      failure: [],
    });
    if (answer.succeeded) return lease;
  } catch (error) {
    await lease.release();
    throw error;
  }
  await lease.release();
  return undefined;
}

async function lead(parts: CompactorParts, lease: Lease): Promise<void> {
  const { connection, keys, options, logger } = parts;
  const signal = AbortSignal.any([lease.lost, connection.signal]);
  logger?.info({ intervalMs: options.intervalMs }, 'this server compacts etcd');
  let due = await newestRevision(connection, keys);
  let told = false;
  for (;;) {
    await pause(options.intervalMs, signal);
    if (signal.aborted) return;
    if (due > parts.compacted()) {
      const may = await compacts(parts, due);
      if (!may && !told) logger?.warn({}, mayNot);
      told = !may;
      await sweepSlots(connection, keys, due);
    }
    due = await newestRevision(connection, keys);
  }
}

/** False: it is not allowed; what etcd itself, or somebody else, has made it forget is known then. */
async function compacts({ connection, keys, ...parts }: CompactorParts, due: number): Promise<boolean> {
  try {
    await compactTo(connection, due);
    parts.onCompacted(due);
    return true;
  } catch (error) {
    if (!isDenied(error)) throw error;
    parts.onCompacted(await compactedRevision(connection, keys, parts.compacted()));
    return false;
  }
}
