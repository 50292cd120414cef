import type { ApiResponse } from '../../../kube/http.ts';
import { internalError } from '../../../kube/status.ts';

export function contentType(response: ApiResponse): Record<string, string | string[]> {
  const type = response.headers['content-type'];
  return type === undefined ? {} : { 'content-type': type };
}

export interface Whole extends ApiResponse {
  body: Uint8Array;
}

/** No object is larger, nor any error about one. */
const mostBytes = 3 * 1024 * 1024;

export async function whole(response: ApiResponse): Promise<Whole> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body = response.body instanceof Uint8Array ? [response.body] : response.body;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw internalError('the answer of the physical cluster is too large');
    chunks.push(chunk);
  }
  return { status: response.status, headers: contentType(response), body: Buffer.concat(chunks) };
}

/** Undefined: it is no JSON. */
export function jsonOf({ body }: Whole): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
