import type { ApiResponse } from '../../kube/http.ts';

/** An answer that is no object, as kube-apiserver gives where it has no Status. */
export function text(status: number, body: string): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(body),
  };
}
