import type { ApiResponse } from '../../../kube/http.ts';
import type { Entry } from '../../../storage/store.ts';
import type { ResourceExchange } from '../../core.ts';
import { jsonBytes, jsonStream, listKind } from '../../encode/respond.ts';
import { type Splice, type SpliceOptions, spliceOf } from '../../registry/codec.ts';
import { parseKey } from '../../registry/keys.ts';

/** About how much is made at a time: the event loop gets its turn between two pieces. */
const pieceBytes = 256 * 1024;

/** A list as the stored bytes of its items, one after the other. Long ones are made while they are sent. */
export function respondJoined(
  exchange: ResourceExchange,
  entries: readonly Entry[],
  metadata: Record<string, unknown>,
): ApiResponse {
  const head = `${JSON.stringify({ ...listKind(exchange), metadata }).slice(0, -1)},"items":[`;
  const options = optionsOf(exchange);
  const frame = Buffer.byteLength(head) + tail.length + Math.max(0, entries.length - 1);
  const length = entries.reduce((sum, entry) => sum + spliceOf(entry, options(entry)).length, frame);
  const pieces = piecesOf(head, entries, options);
  if (length <= pieceBytes * 2) return jsonBytes(200, Buffer.concat([...pieces], length));
  return jsonStream(200, length, inTurns(pieces));
}

const tail = Buffer.from(']}\n');
const comma = 0x2c;

function optionsOf({ info, stored, served }: ResourceExchange): (entry: Entry) => SpliceOptions {
  const bare = !served.custom;
  const alike = { bare };
  if (info.cluster !== '*') return () => alike;
  return (entry) => ({ bare, cluster: parseKey(stored.info, entry.key).cluster });
}

function* piecesOf(
  head: string,
  entries: readonly Entry[],
  options: (entry: Entry) => SpliceOptions,
): Generator<Uint8Array> {
  yield Buffer.from(head);
  let first = true;
  let batch: Splice[] = [];
  let size = 0;
  for (const entry of entries) {
    const splice = spliceOf(entry, options(entry));
    batch.push(splice);
    size += splice.length + 1;
    if (size < pieceBytes) continue;
    yield joined(batch, size, first);
    first = false;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield joined(batch, size, first);
  yield tail;
}

/** `size` counts one comma for each; the very first item of the list has none. */
function joined(batch: readonly Splice[], size: number, first: boolean): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(first ? size - 1 : size);
  let at = 0;
  for (const [index, splice] of batch.entries()) {
    if (index > 0 || !first) bytes[at++] = comma;
    at = splice.write(bytes, at);
  }
  return bytes;
}

async function* inTurns(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield piece;
}
