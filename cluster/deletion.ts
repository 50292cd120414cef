import type { KubeObject } from '../kube/object.ts';

/** The collector's own: with them alone nobody else has anything left to do with the object. */
const collectors = new Set(['foregroundDeletion', 'orphan']);

/**
 * Deleted, and to leave its clusters now. As on one cluster, what it runs goes on while somebody's finalizer keeps it,
 * an operator's that needs the running pods perhaps; but for a deletion in the foreground, which takes them first, and
 * for a Pod, whose containers are stopped whatever keeps its record.
 */
export function isEnding({ kind, metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  if (deletionTimestamp === undefined) return false;
  if (kind === 'Pod') return true;
  return finalizers.includes('foregroundDeletion') || finalizers.every((name) => collectors.has(name));
}
