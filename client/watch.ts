import type { ApiResponse } from '../kube/http.ts';
import { anyDepth, decodeJsonText } from '../kube/json.ts';
import type { KubeObject, WatchEvent } from '../kube/object.ts';
import { statusErrorOf, TransportError } from './errors.ts';
import { lines } from './lines.ts';

const types = new Set<unknown>(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

/**
 * What a watch's answer tells, some at a time. Returns when `signal` aborts, also while the stream is silent. From
 * inside the server's process the objects are not ours to change.
 */
export async function* watchEvents<T extends KubeObject>(
  { body, events }: ApiResponse,
  options: { signal?: AbortSignal | undefined; maxLine?: number | undefined } = {},
): AsyncIterable<readonly WatchEvent<T>[]> {
  try {
    for await (const some of events ?? decoded(body, options.maxLine)) {
      if (options.signal?.aborted) return;
      const failed = some.findIndex(({ type }) => type === 'ERROR');
      const good = failed < 0 ? some : some.slice(0, failed);
      if (good.length > 0) yield good as readonly WatchEvent<T>[];
      if (failed >= 0) throw statusErrorOf(500, some[failed]?.object);
    }
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  }
}

async function* decoded(
  body: ApiResponse['body'],
  maxLine: number | undefined,
): AsyncIterable<readonly WatchEvent[]> {
  const chunks = body instanceof Uint8Array ? [body] : body;
  for await (const line of lines(chunks, maxLine)) yield [parseEvent(line)];
}

function parseEvent(line: string): WatchEvent {
  let event: WatchEvent;
  try {
    event = decodeJsonText(line, anyDepth).value as unknown as WatchEvent;
  } catch (cause) {
    throw new TransportError('EBADRESPONSE', 'a watch event is not JSON', cause);
  }
  if (!types.has(event?.type) || typeof event.object !== 'object' || event.object === null) {
    throw new TransportError('EBADRESPONSE', 'a watch event has no known type');
  }
  return event;
}
