import type { Exchange } from '../core.ts';

/** By uid, so that names of priorities tell nobody anything. */
export function flowHeaders(exchange: Exchange | undefined): Record<string, string> | undefined {
  const matched = exchange?.matched;
  return (
    matched && {
      'x-kubernetes-pf-flowschema-uid': matched.flow,
      'x-kubernetes-pf-prioritylevel-uid': matched.level,
    }
  );
}
