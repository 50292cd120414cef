import type { GroupVersionKind } from './gvk.ts';
import type { JsonObject } from './object.ts';
import { cannotHandle } from './schema/strict.ts';
import { isRecord } from './untyped.ts';

/**
 * What is stored nests in no more levels: whoever reads it here goes as deep as it does, in YAML say, and lists,
 * reviews and shares wrap it in more.
 */
const maxDepth = 1000;
/** Of managedFields, which nest as the object does in a list of who owns it; and of a patch, which may hold them. */
export const deepest = maxDepth + 8;

/** Throws StatusError 400, in the words of kube-apiserver's decoder, which goes ten times as deep. */
export function refuseDeep(object: JsonObject, gvk: GroupVersionKind): void {
  const { metadata } = object;
  const fields = isRecord(metadata) ? metadata['managedFields'] : undefined;
  const rest = fields
    ? { ...object, metadata: { ...(metadata as JsonObject), managedFields: null } }
    : object;
  const isDeep = isDeeper(rest, maxDepth) || isDeeper(fields, deepest);
  if (isDeep) throw cannotHandle(gvk, 'json: exceeded max depth');
}

/** Looks no further than so many levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return children.some((child) => isDeeper(child, levels - 1));
}
