import type { ApiResponse } from '../kube/http.ts';
import { decodeJsonText } from '../kube/json.ts';
import type { KubeObject, WatchEvent } from '../kube/object.ts';
import { statusErrorOf, TransportError } from './errors.ts';
import { lines } from './lines.ts';

const types = new Set<unknown>(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

/** Decodes a watch's body. Returns when `signal` aborts, also while the stream is silent. */
export async function* watchEvents<T extends KubeObject>(
  body: ApiResponse['body'],
  options: { signal?: AbortSignal | undefined; maxLine?: number | undefined } = {},
): AsyncIterable<WatchEvent<T>> {
  const chunks = body instanceof Uint8Array ? [body] : body;
  try {
    for await (const line of lines(chunks, options.maxLine)) {
      if (options.signal?.aborted) return;
      yield parseEvent<T>(line);
    }
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  }
}

function parseEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  let event: WatchEvent<T>;
  try {
    event = decodeJsonText(line).value as unknown as WatchEvent<T>;
  } catch (cause) {
    throw new TransportError('EBADRESPONSE', 'a watch event is not JSON', cause);
  }
  if (!types.has(event?.type) || typeof event.object !== 'object' || event.object === null) {
    throw new TransportError('EBADRESPONSE', 'a watch event has no known type');
  }
  if (event.type === 'ERROR') throw statusErrorOf(500, event.object);
  return event;
}
