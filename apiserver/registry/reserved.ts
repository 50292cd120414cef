import { isSeenMark, keepMarks } from '../../cluster/marks.ts';
import type { KubeObject } from '../../kube/object.ts';

/**
 * Annotations of the server's own stay as they are whoever writes the object, before they become anybody's fields: a
 * client that copies the metadata of another object brings none of them. Changes `object`.
 */
export function keepReserved(object: KubeObject, old?: KubeObject): void {
  const { annotations } = object.metadata;
  const before = old?.metadata.annotations;
  if (annotations === undefined && before === undefined) return;
  const kept = keepMarks(annotations, before, isSeenMark);
  if (kept === annotations) return;
  if (kept && Object.keys(kept).length > 0) object.metadata.annotations = { ...kept };
  else delete object.metadata.annotations;
}
