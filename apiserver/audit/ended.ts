import type { ApiResponse } from '../../kube/http.ts';

/**
 * The same answer, which says when its last piece was taken or nobody reads any more: once. Told with what was read, where
 * `most` bytes are enough for it.
 */
export function ended(
  response: ApiResponse,
  most: number,
  over: (bytes: Uint8Array | undefined) => void,
): ApiResponse {
  const { tunnel, events, body } = response;
  if (tunnel) {
    tunnel.once('close', () => over(undefined));
    return response;
  }
  if (events)
    return {
      ...response,
      events: watched(
        events,
        () => {},
        () => over(undefined),
      ),
    };
  if (body instanceof Uint8Array) return response;
  let chunks: Uint8Array[] | undefined = most > 0 ? [] : undefined;
  let size = 0;
  const piece = (bytes: Uint8Array) => {
    size += bytes.length;
    if (size > most) chunks = undefined;
    chunks?.push(bytes);
  };
  return { ...response, body: watched(body, piece, () => over(chunks && Buffer.concat(chunks))) };
}

function watched<T>(source: AsyncIterable<T>, piece: (value: T) => void, over: () => void): AsyncIterable<T> {
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for await (const value of source) {
          piece(value);
          yield value;
        }
      } finally {
        over();
      }
    },
  };
}
