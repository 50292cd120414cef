import type { KubeObject } from '../kube/object.ts';
import type { Placement } from './types.ts';

/** Deleted with propagationPolicy Orphan, and the garbage collector has yet to note it in the Placement. */
export function isBeingOrphaned({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('orphan') === true;
}

/** Its object was orphaned: the record stands for what that left behind. */
export function isTombstone({ spec }: Placement): boolean {
  return spec?.orphaned !== undefined && spec.orphaned === spec.ref.uid;
}
