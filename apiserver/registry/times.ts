import { deepEqual, sameJson } from '../../kube/deep.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../kube/object.ts';

/**
 * Who wrote when is no change by itself: where nothing else differs from `old`, `next` keeps the times of its managers
 * and so is not written. `given` is what the client sent, before what it cannot change was put back. In place.
 */
export function keepTimes(next: KubeObject, old: KubeObject, given: KubeObject['metadata']): void {
  const before = old.metadata.managedFields ?? [];
  const after = next.metadata.managedFields ?? [];
  if (after.length === 0 || before.length !== after.length) return;
  if (after.every(({ time }, i) => time === before[i]?.time)) return;
  if (given.uid !== old.metadata.uid || given.resourceVersion !== old.metadata.resourceVersion) return;
  if (!after.every((entry, i) => deepEqual(timeless(entry), timeless(before[i] ?? {})))) return;
  if (!sameJson(bare(next), bare(old))) return;
  next.metadata = { ...next.metadata, managedFields: before };
}

function timeless({ time: _, ...entry }: Partial<ManagedFieldsEntry>): object {
  return entry;
}

function bare({ metadata, ...rest }: KubeObject): object {
  const { managedFields: _, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
