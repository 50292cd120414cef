import type { ApiResponse } from '../../kube/http.ts';
import { StatusError } from '../../kube/status.ts';
import { text } from '../encode/text.ts';

export function lateError(): DOMException {
  return new DOMException('no answer in time', 'TimeoutError');
}

export function tooMany(): StatusError {
  const message = 'too many requests to API servers of this logical cluster are under way: try again later';
  return new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds: 1 });
}

/** In the words of kube-aggregator. */
export function unavailable(): ApiResponse {
  return text(503, 'service unavailable\n');
}

/** In the words of kube-aggregator. */
export function unreached(why: string): ApiResponse {
  return text(503, `error trying to reach service: ${why}\n`);
}

export function isRedirect({ status, headers }: ApiResponse): boolean {
  return status >= 300 && status <= 399 && headers['location'] !== undefined;
}

/** Wherever it leads: whoever asks would go there with what they show us. */
export function redirected({ body }: ApiResponse): ApiResponse {
  if (!(body instanceof Uint8Array)) (body as Partial<{ destroy(): void }>).destroy?.();
  return text(502, 'the backend attempted to redirect this request, which is not permitted');
}

/** Whoever answers more is not read to the end. */
export function upTo(most: number, body: ApiResponse['body']): ApiResponse['body'] {
  return body instanceof Uint8Array ? body : counted(most, body);
}

async function* counted(most: number, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > most) throw new Error('the answer is too long');
    yield piece;
  }
}
