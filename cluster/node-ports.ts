import type { ManagedFieldsEntry, ObjectMeta } from '../kube/object.ts';
import { at, isRecord } from '../kube/untyped.ts';

/**
 * The spec of a Service without the ports of nodes that its logical cluster handed out: each physical cluster hands out its own. One
 * that somebody wrote is the user's wish, as its managed fields tell, and is asked of each cluster, which gives another to
 * the second of two Services with the same one: see syncer/node-ports.ts.
 */
export function withPortsThere(
  { healthCheckNodePort: health, ...spec }: Record<string, unknown>,
  { managedFields = [] }: ObjectMeta,
): Record<string, unknown> {
  const { ports } = spec;
  return {
    ...spec,
    ...(health !== undefined &&
      isAsked(managedFields, 'f:healthCheckNodePort') && { healthCheckNodePort: health }),
    ...(Array.isArray(ports) && { ports: ports.map((port) => portThere(port, managedFields)) }),
  };
}

function portThere(port: unknown, managers: readonly ManagedFieldsEntry[]): unknown {
  if (!isRecord(port)) return port;
  const key = `k:${JSON.stringify({ port: port['port'], protocol: port['protocol'] ?? 'TCP' })}`;
  if (isAsked(managers, 'f:ports', key, 'f:nodePort')) return port;
  const { nodePort: _, ...rest } = port;
  return rest;
}

function isAsked(managers: readonly ManagedFieldsEntry[], ...path: string[]): boolean {
  return managers.some(({ fieldsV1 }) => at(fieldsV1, 'f:spec', ...path) !== undefined);
}
