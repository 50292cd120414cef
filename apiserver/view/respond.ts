import { isObject } from '../../kube/deep.ts';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import { decodeJson, encodeJson } from '../../kube/json.ts';
import { badRequest, expired, internalError, StatusError } from '../../kube/status.ts';
import { StoreError } from '../../storage/store.ts';

const headers = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };

export function answer(status: number, body: unknown): ApiResponse {
  return { status, headers: { ...headers }, body: Buffer.from(encodeJson(body)) };
}

export function stream(body: AsyncIterable<Uint8Array>): ApiResponse {
  return { status: 200, headers: { ...headers }, body };
}

/** The one border: what a layer below threw becomes the Status that kube-apiserver would send. */
export function failure(error: unknown): ApiResponse {
  const status = asStatusError(error);
  return answer(status.code, status.toStatus());
}

export function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof StoreError) {
    if (error.code === 'compacted') return expired('The resourceVersion for the provided watch is too old.');
    if (error.code === 'future')
      return new StatusError(504, 'Timeout', 'Too large resource version', { retryAfterSeconds: 1 });
    if (error.code === 'too-large')
      return new StatusError(413, 'RequestEntityTooLarge', 'the object is too large');
    if (error.code === 'full')
      return new StatusError(507, 'InsufficientStorage', `the store is full: ${error.message}`);
    if (error.code === 'closed' || error.code === 'unavailable')
      return new StatusError(503, 'ServiceUnavailable', `the store is ${error.code}`, {
        retryAfterSeconds: 1,
      });
  }
  return internalError(error instanceof Error ? error.message : 'unknown', error);
}

/** The body as a JSON object of at most `max` bytes. */
export function jsonBody(request: ApiRequest, max: number): Record<string, unknown> {
  const body = request.body ?? new Uint8Array();
  if (body.length > max)
    throw new StatusError(413, 'RequestEntityTooLarge', `the body is longer than ${max} bytes`);
  let value: unknown;
  try {
    value = decodeJson(body).value;
  } catch {
    throw badRequest('the body is not JSON');
  }
  if (!isObject(value)) throw badRequest('the body is not a JSON object');
  return value;
}
