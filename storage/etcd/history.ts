import { compactedError } from '../revisions.ts';
import { type Range, StoreError, type StoreEvent } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Keys } from './keys.ts';
import { pause } from './pause.ts';
import { openStream } from './stream.ts';
import { number, type WatchEvent, type WatchResponse } from './wire.ts';

const PROGRESS_MS = 20;

export interface HistoryRequest {
  range: Range;
  /** Events with after < revision <= until. */
  after: number;
  until: number;
  deliver: (events: readonly StoreEvent[]) => void;
  signal: AbortSignal;
}

/** The events that the cache does not have any more, from etcd's own watch. Fails with `compacted`, `unavailable`. */
export async function readHistory(
  connection: Connection,
  keys: Keys,
  request: HistoryRequest,
): Promise<void> {
  const { range, until, signal } = request;
  let seen = request.after;
  let failed: unknown;
  const deadline = () => performance.now() + connection.patienceMs;
  for (let giveUp = deadline(); seen < until && !signal.aborted; ) {
    const create = { ...keys.range(range), startRevision: seen + 1, prevKv: true, progressNotify: true };
    const before = seen;
    const stream = await openStream(connection, create, (response) => {
      try {
        seen = accept(keys, response, seen, request);
      } catch (error) {
        failed = error;
      }
      if (failed !== undefined || seen >= until) stream?.stop();
    }).catch(() => undefined);
    if (stream !== undefined) {
      const ask = setInterval(() => stream.progress(), PROGRESS_MS);
      stream.progress();
      signal.addEventListener('abort', stream.stop, { once: true });
      const end = await stream.ended;
      clearInterval(ask);
      signal.removeEventListener('abort', stream.stop);
      if (failed !== undefined) throw failed;
      if (end.why === 'compacted') throw compactedError(before, end.revision);
    }
    if (seen > before) giveUp = deadline();
    if (seen < until && !signal.aborted) {
      if (connection.signal.aborted) throw new StoreError('closed', 'the store is closed');
      if (performance.now() > giveUp) throw new StoreError('unavailable', 'etcd: the history cannot be read');
      await pause(100, signal);
    }
  }
}

/** Delivers what is wanted; answers up to where everything was delivered. */
function accept(keys: Keys, response: WatchResponse, seen: number, request: HistoryRequest): number {
  if (response.created) return seen;
  if (response.events.length === 0) return Math.max(seen, number(response.header.revision));
  const events: StoreEvent[] = [];
  let last = seen;
  for (const event of response.events) {
    last = Math.max(last, number(event.kv.modRevision));
    const revision = number(event.kv.modRevision);
    if (revision > seen && revision <= request.until) events.push(toEvent(keys, event));
  }
  if (events.length > 0) request.deliver(events);
  return last;
}

function toEvent(keys: Keys, { type, kv, prevKv }: WatchEvent): StoreEvent {
  const previous = prevKv === null ? undefined : keys.entry(prevKv);
  const created = type === 0 && number(kv.version) === 1;
  // The version before was compacted between the start of this watch and now.
  if (previous === undefined && !created)
    throw compactedError(number(kv.modRevision) - 1, number(kv.modRevision));
  if (type === 0) return { type: 'put', entry: keys.entry(kv), ...(previous !== undefined && { previous }) };
  const gone = previous ?? keys.entry(kv);
  return {
    type: 'delete',
    entry: { ...gone, revision: number(kv.modRevision) },
    ...(previous !== undefined && { previous }),
  };
}
