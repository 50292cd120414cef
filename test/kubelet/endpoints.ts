import type { KubeObject } from '../../kube/object.ts';
import { at, listAt, numberAt, strings } from '../../kube/untyped.ts';

export interface Endpoint {
  ip: string;
  port: number;
}

/**
 * Where a kube-proxy that has these slices of a Service leads to: what is ready, or where nothing is, what still serves
 * while it ends. An address that several slices have is terminating only where all of them say so.
 */
export function endpointsOf(slices: readonly KubeObject[]): Endpoint[] {
  const byName = [...slices].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const known = new Map<string, Endpoint & Conditions>();
  for (const slice of byName) {
    const port = listAt(slice, 'ports').flatMap((port) => numberAt(port, 'port') ?? [])[0];
    if (port === undefined) continue;
    for (const endpoint of listAt(slice, 'endpoints')) {
      const [ip] = strings(at(endpoint, 'addresses'));
      const conditions = conditionsOf(endpoint);
      if (ip !== undefined && (!known.has(ip) || !conditions.terminating))
        known.set(ip, { ip, port, ...conditions });
    }
  }
  const all = [...known.values()];
  const ready = all.filter(({ ready }) => ready);
  const usable = ready.length > 0 ? ready : all.filter(({ serving, terminating }) => serving && terminating);
  return usable.map(({ ip, port }) => ({ ip, port }));
}

interface Conditions {
  ready: boolean;
  serving: boolean;
  terminating: boolean;
}

/** What is not said is true of ready and serving. */
function conditionsOf(endpoint: unknown): Conditions {
  const said = (name: string) => at(endpoint, 'conditions', name);
  return {
    ready: said('ready') !== false,
    serving: said('serving') !== false,
    terminating: said('terminating') === true,
  };
}
