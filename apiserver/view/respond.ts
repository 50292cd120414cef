import { apiVersion } from '../../cluster/names.ts';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import { decodeJson, encodeJson } from '../../kube/json.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import { isRecord } from '../../kube/untyped.ts';

export const shareKind = { kind: 'Share', apiVersion };

const headers = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };

export function answer(status: number, body: unknown): ApiResponse {
  return { status, headers: { ...headers }, body: Buffer.from(encodeJson(body)) };
}

export function stream(body: AsyncIterable<Uint8Array>): ApiResponse {
  return { status: 200, headers: { ...headers }, body };
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
  if (!isRecord(value)) throw badRequest('the body is not a JSON object');
  return value;
}
