import type { ApiRequest, ApiResponse } from '../kube/http.ts';
import type { Core, Exchange } from './core.ts';
import { flowHeaders } from './fairness/headers.ts';
import { observed, whenOver } from './observe.ts';
import type { RequestTrace } from './tracer.ts';

/** As it is sent, and counted. `exchange` is undefined where nobody knows what is asked. */
export function ended(
  core: Core,
  request: ApiRequest,
  began: number,
  answer: ApiResponse,
  exchange: Exchange | undefined,
  trace?: RequestTrace,
): ApiResponse {
  const response = finish(answer, exchange, request);
  if (trace) {
    trace.answered(response);
    whenOver(response, () => trace.over());
  }
  const { observer } = core;
  return observer ? observed(observer, request, exchange?.info, response, began) : response;
}

/** The caller owns the headers. */
function finish(
  response: ApiResponse,
  exchange: Exchange | undefined,
  { auditId = '' }: ApiRequest,
): ApiResponse {
  const headers: ApiResponse['headers'] = {
    'audit-id': auditId,
    'cache-control': 'no-cache, private',
    ...response.headers,
    ...flowHeaders(exchange),
  };
  const warnings = exchange?.warnings.texts ?? [];
  if (warnings.length > 0) headers['warning'] = warnings.map(warningHeader);
  const { status, body, tunnel, events } = response;
  if (events) return { status, headers, body, events };
  return tunnel ? { status, headers, body, tunnel } : { status, headers, body };
}

/** RFC 7234 warn-text: a quoted string of printable characters. */
function warningHeader(message: string): string {
  const clean = message.replace(/[^\x20-\x7e]/g, '?').replace(/[\\"]/g, '\\$&');
  return `299 - "${clean}"`;
}
