import { isSeenMark, keepMarks } from '../../cluster/marks.ts';
import type { KubeObject } from '../../kube/object.ts';
import { keptByUndo } from './undo.ts';

/**
 * Annotations of the server's own stay as they are whoever writes the object, before they become anybody's fields: a
 * client that copies the metadata of another object brings none of them, and takes away nothing by it that was said of where the object
 * runs. Changes `object`.
 */
export function keepReserved(object: KubeObject, old?: KubeObject): void {
  const before = old?.metadata.annotations;
  const said = keptByUndo(object.metadata.annotations, before);
  if (Object.keys(said).length > 0) object.metadata.annotations = { ...object.metadata.annotations, ...said };
  const { annotations } = object.metadata;
  if (annotations === undefined && before === undefined) return;
  const kept = keepMarks(annotations, before, isSeenMark);
  if (kept === annotations) return;
  if (kept && Object.keys(kept).length > 0) object.metadata.annotations = { ...kept };
  else delete object.metadata.annotations;
}
