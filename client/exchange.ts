import type { ApiResponse } from '../kube/http.ts';
import { anyDepth, decodeJson } from '../kube/json.ts';
import { Pieces } from '../kube/pieces.ts';
import { statusErrorOf, TransportError } from './errors.ts';

/** The body as one piece. Streams longer than `max` bytes fail with ETOOLARGE, and are read no further. */
export async function collect(body: ApiResponse['body'], max: number): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  const pieces = new Pieces();
  for await (const piece of body) {
    pieces.add(piece);
    if (pieces.length > max) throw tooLarge(max);
  }
  return pieces.whole();
}

/** What is longer becomes no text, which is half a gibibyte at most; and all of it is in memory several times. */
const longestDecoded = 256 << 20;

/** Throws TransportError; ETOOLARGE for more than can be decoded. `taken` is told how long it is before it is decoded. */
export async function decode(
  response: ApiResponse,
  max = longestDecoded,
  taken?: (bytes: number) => void,
): Promise<unknown> {
  const bytes = await collect(response.body, max);
  if (bytes.length > max) throw tooLarge(max);
  taken?.(bytes.length);
  try {
    return parseJson(bytes);
  } catch (cause) {
    throw new TransportError('EBADRESPONSE', 'the answer is not JSON', cause);
  }
}

function tooLarge(max: number): TransportError {
  return new TransportError('ETOOLARGE', `the answer is longer than ${max} bytes`);
}

export async function failIfNotOk(response: ApiResponse): Promise<void> {
  if (response.status >= 200 && response.status < 300) return;
  const bytes = await collect(response.body, 1 << 20);
  let body: unknown;
  try {
    body = parseJson(bytes);
  } catch {
    // What a proxy says is for people: enough of it to recognise who spoke.
    body = Buffer.from(bytes.subarray(0, 200)).toString('utf8');
  }
  const retryAfter = response.headers['retry-after'];
  throw statusErrorOf(response.status, body, Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
}

export function parseJson(bytes: Uint8Array): unknown {
  return decodeJson(bytes, anyDepth).value;
}
