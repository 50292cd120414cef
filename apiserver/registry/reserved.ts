import { isReserved, reflectedKinds } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ServedResource } from '../options.ts';

/**
 * Annotations of the server's own, such as those of a reflected object, stay as they are whoever writes the object,
 * and never come with it: a client that copies the metadata of another object copies none of them. Changes `object`.
 */
export function keepReserved(
  object: KubeObject,
  old: KubeObject | undefined,
  { info }: ServedResource,
): void {
  const { annotations } = object.metadata;
  const kept = old?.metadata.annotations && reservedOf(old.metadata.annotations, info);
  if (kept === undefined && !hasReserved(annotations)) return;
  const own = Object.entries(annotations ?? {}).filter(([key]) => !isReserved(key));
  const next = { ...Object.fromEntries(own), ...kept };
  if (Object.keys(next).length > 0) object.metadata.annotations = next;
  else delete object.metadata.annotations;
}

/** Only what is reflected has any. */
function reservedOf(
  annotations: Record<string, string>,
  { group, resource }: ServedResource['info'],
): Record<string, string> | undefined {
  if (!hasReserved(annotations)) return undefined;
  if (!reflectedKinds.some((kind) => kind.group === group && kind.resource === resource)) return undefined;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => isReserved(key)));
}

function hasReserved(annotations: Record<string, string> | undefined): boolean {
  for (const key in annotations) if (isReserved(key)) return true;
  return false;
}
