import type { ManagedFieldsEntry, ObjectMeta } from '../kube/object.ts';
import { at, isRecord } from '../kube/untyped.ts';

/**
 * Ports of a Service without the node ports that its logical cluster handed out: each physical cluster hands out its own. One
 * that somebody wrote is the user's wish, as its managed fields tell, and is asked of each cluster, which gives another to
 * the second of two Services with the same one: see syncer/node-ports.ts.
 */
export function portsThere(ports: readonly unknown[], { managedFields = [] }: ObjectMeta): unknown[] {
  return ports.map((port) => {
    if (!isRecord(port) || isAsked(port, managedFields)) return port;
    const { nodePort: _, ...rest } = port;
    return rest;
  });
}

function isAsked(port: Record<string, unknown>, managers: readonly ManagedFieldsEntry[]): boolean {
  const key = `k:${JSON.stringify({ port: port['port'], protocol: port['protocol'] ?? 'TCP' })}`;
  return managers.some(({ fieldsV1 }) => at(fieldsV1, 'f:spec', 'f:ports', key, 'f:nodePort') !== undefined);
}
