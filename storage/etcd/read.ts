import { type Entry, type ListOptions, type ListResult, type Range, startAfter } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Keys } from './keys.ts';
import { number, type RangeRequest, range as rangeMethod, status } from './wire.ts';

/** Who asks for it has somebody waiting. */
const SIZE_MS = 1000;

const PAGE = 500;
/** What etcd is asked for at once: it has to come within one attempt. */
const PAGE_BYTES = 16 << 20;

/** etcd's newest revision, confirmed by a majority: no write acknowledged before this call is newer. */
export async function newestRevision(connection: Pick<Connection, 'call'>, keys: Keys): Promise<number> {
  const answer = await connection.call(rangeMethod, { key: keys.nothing, keysOnly: true });
  return number(answer.header.revision);
}

/** One key from etcd itself, linearizable; `newest` is etcd's newest revision. */
export async function readOne(
  connection: Pick<Connection, 'call'>,
  keys: Keys,
  key: string,
  revision?: number,
): Promise<{ entry: Entry | undefined; newest: number }> {
  const request: RangeRequest = { key: keys.data(key), ...asOf(revision) };
  const answer = await connection.call(rangeMethod, request);
  const kv = answer.kvs[0];
  return { entry: kv && keys.entry(kv), newest: number(answer.header.revision) };
}

/** A range from etcd itself, in pages that all show the revision of the first one. */
export async function readRange(
  connection: Pick<Connection, 'call'>,
  keys: Keys,
  range: Range,
  options: ListOptions = {},
): Promise<ListResult> {
  const limit = options.limit === undefined || options.limit <= 0 ? Infinity : options.limit;
  const entries: Entry[] = [];
  let start = startAfter(range, options.after);
  let { revision } = options;
  let page = PAGE;
  for (;;) {
    if (start >= range.end) start = range.end;
    const request = {
      ...keys.range({ start, end: range.end }),
      limit: Math.min(page, limit - entries.length),
      ...asOf(revision),
    };
    const answer = await connection.call(rangeMethod, request, shorter);
    revision ??= number(answer.header.revision);
    page = pageAfter(answer.kvs);
    for (const kv of answer.kvs) entries.push(keys.entry(kv));
    const last = entries[entries.length - 1];
    const remaining = number(answer.count) - answer.kvs.length;
    if (!answer.more || entries.length >= limit || last === undefined) {
      return { entries, revision, more: answer.more, remaining };
    }
    start = `${last.key}\0`;
  }
}

/** Values are of 1.5 MiB each and more: five hundred of them do not come within one attempt. */
function shorter(request: RangeRequest): RangeRequest {
  return { ...request, limit: Math.max(1, Math.floor((request.limit ?? PAGE) / 10)) };
}

/** How many are asked for after these: as many bytes as come in time, and twice as many as came at most. */
function pageAfter(kvs: readonly { value: Uint8Array }[]): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0);
  const fitting = Math.floor((kvs.length * PAGE_BYTES) / Math.max(1, bytes));
  return Math.max(1, Math.min(PAGE, fitting, 2 * kvs.length));
}

/** etcd takes 0 for the newest; its first revision is 1. */
function asOf(revision: number | undefined): { revision?: number } {
  return revision === undefined ? {} : { revision: Math.max(1, revision) };
}

/** Of the member's database that answers; undefined where it does not, or may not be asked. */
export async function sizeOf(connection: Pick<Connection, 'once'>): Promise<number | undefined> {
  try {
    return number((await connection.once(status, {}, performance.now() + SIZE_MS)).dbSize);
  } catch {
    return undefined;
  }
}
