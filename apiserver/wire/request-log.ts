import type { ApiRequest } from '../../kube/http.ts';
import type { Exchange } from '../core.ts';
import type { ServerLogger } from '../options.ts';
import { pathOf } from '../request.ts';

const longestPath = 1024;

/** Begins as a request comes; says when it was answered. Undefined where nobody looks. */
export function requestLog(logger: ServerLogger | undefined): RequestLog | undefined {
  const debug = logger?.debug;
  if (debug === undefined) return undefined;
  return (request) => {
    const began = performance.now();
    let exchange: Exchange | undefined;
    return {
      known: (by) => {
        exchange = by;
      },
      answered: (code) => debug('request', told(request, exchange, { code, ms: performance.now() - began })),
    };
  };
}

export type RequestLog = (request: ApiRequest) => {
  /** Who asks for what. */
  known(exchange: Exchange): void;
  answered(code: number): void;
};

/**
 * What is told of a request: never its headers or bodies, nor its query, nor what a proxied path says, as secrets may be
 * in any of them. `exchange` is undefined where it was refused before it was known who asks.
 */
function told(
  { method, url, auditId }: ApiRequest,
  exchange: Exchange | undefined,
  { code, ms }: { code: number; ms: number },
): Record<string, unknown> {
  const path = pathOf(url).replace(/(\/proxy\/).*/s, '$1...');
  return {
    verb: exchange?.info.verb ?? method.toLowerCase(),
    path: path.length > longestPath ? `${path.slice(0, longestPath)}...` : path,
    code,
    auditId,
    ms: Math.round(ms * 10) / 10,
    ...(exchange && { user: exchange.user.name, cluster: exchange.info.cluster }),
  };
}
