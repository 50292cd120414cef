import type { ApiResponse } from '../../../kube/http.ts';
import { Pieces } from '../../../kube/pieces.ts';
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
  const pieces = new Pieces();
  const body = response.body instanceof Uint8Array ? [response.body] : response.body;
  for await (const piece of body) {
    pieces.add(piece);
    if (pieces.length > mostBytes) throw internalError('the answer of the physical cluster is too large');
  }
  return { status: response.status, headers: contentType(response), body: pieces.whole() };
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
