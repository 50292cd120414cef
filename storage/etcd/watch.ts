import { compactedError } from '../revisions.ts';
import { type Range, StoreError, type StoreEvent, type WatchOptions } from '../store.ts';
import type { Cache } from './cache.ts';
import type { Connection } from './connection.ts';
import { readHistory } from './history.ts';
import type { Keys } from './keys.ts';

export interface WatchParts {
  connection: Connection;
  keys: Keys;
  /** Rejects when the store is closed. */
  cache: () => Promise<Cache>;
  compacted: () => number;
}

/** See Store.watch. What is older than the cache's history comes from etcd first, up to where the cache takes over. */
export async function watchFrom(parts: WatchParts, range: Range, options: WatchOptions): Promise<() => void> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  let { after } = options;
  for (;;) {
    const { versions, hub } = await parts.cache();
    if (signal.aborted) return () => {};
    if (after < parts.compacted()) throw compactedError(after, parts.compacted());
    if (after >= versions.compacted) return hub.watch(range, { ...options, after });
    const until = versions.revision;
    const sent = await old(parts, range, { ...options, signal }, after, until, stop);
    if (!sent) return () => {};
    after = until;
  }
}

/** False when the watch is over: its sink threw. */
async function old(
  { connection, keys }: WatchParts,
  range: Range,
  options: WatchOptions & { signal: AbortSignal },
  after: number,
  until: number,
  stop: AbortController,
): Promise<boolean> {
  if (range.start >= range.end) return true;
  let failure: StoreError | undefined;
  const deliver = (events: readonly StoreEvent[]): void => {
    if (options.signal.aborted) return;
    try {
      options.sink(events);
    } catch (cause) {
      failure = new StoreError('unavailable', 'the watch sink threw', { cause });
      stop.abort();
    }
  };
  await readHistory(connection, keys, { range, after, until, deliver, signal: options.signal });
  if (failure === undefined) return true;
  options.onEnd?.(failure);
  return false;
}
