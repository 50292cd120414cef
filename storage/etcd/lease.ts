import type { Connection } from './connection.ts';
import { grant, type Int64, keepAlive, number, revoke } from './wire.ts';

export interface Lease {
  readonly id: Int64;
  /** Aborts when the lease can no longer be counted on. */
  readonly lost: AbortSignal;
  /** Keys that hang on it vanish at once. */
  release(): Promise<void>;
}

/** A lease that is kept alive until it is released, the connection closes or etcd says that it is gone. */
export async function holdLease(connection: Connection, ttlSeconds: number): Promise<Lease> {
  const { id } = await connection.call(grant, { ttl: ttlSeconds });
  const lost = new AbortController();
  let aliveUntil = performance.now() + ttlSeconds * 1000;
  const beat = async (): Promise<void> => {
    const sent = performance.now();
    if (sent >= aliveUntil) return lost.abort();
    const left = await keepAliveOnce(connection, id, aliveUntil - sent).catch(() => undefined);
    if (left === undefined) return;
    if (left <= 0) lost.abort();
    // Counted from before the question: this side gives up first.
    else aliveUntil = sent + left * 1000;
  };
  const timer = setInterval(() => void beat(), (ttlSeconds * 1000) / 3).unref();
  const end = (): void => {
    clearInterval(timer);
    lost.abort();
  };
  connection.signal.addEventListener('abort', end, { once: true });
  lost.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    id,
    lost: lost.signal,
    release: async () => {
      end();
      connection.signal.removeEventListener('abort', end);
      await connection.once(revoke, { id }, performance.now() + 1000).catch(() => undefined);
    },
  };
}

/** Seconds that are left, 0 when the lease is gone. Rejects when there is no answer within `timeoutMs`. */
export async function keepAliveOnce(connection: Connection, id: Int64, timeoutMs: number): Promise<number> {
  const stream = await connection.stream(keepAlive);
  try {
    return await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer')), timeoutMs);
      const settle = (): void => clearTimeout(timer);
      stream.on('data', (answer) => {
        settle();
        resolve(number(answer.ttl));
      });
      stream.on('error', (error) => {
        settle();
        reject(error);
      });
      stream.on('end', () => reject(new Error('no answer')));
      stream.write({ id });
    });
  } finally {
    stream.cancel();
  }
}
