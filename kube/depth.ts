import type { GroupVersionKind } from './gvk.ts';
import type { JsonObject } from './object.ts';
import { cannotHandle } from './schema/refusal.ts';
import type { StatusError } from './status.ts';
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
  if (isDeep(object)) throw tooDeep(gvk);
}

/** As refuseDeep, of what somebody has made of `before`: that may have been stored before this was refused, and then stays as deep as it is. */
export function refuseDeeper(object: JsonObject, before: JsonObject, gvk: GroupVersionKind): void {
  if (isDeep(object) && depthOf(object) > depthOf(before)) throw tooDeep(gvk);
}

function tooDeep(gvk: GroupVersionKind): StatusError {
  return cannotHandle(gvk, 'json: exceeded max depth');
}

/** Than anything that is taken. */
export function isDeep(object: JsonObject): boolean {
  const { metadata } = object;
  const fields = isRecord(metadata) ? metadata['managedFields'] : undefined;
  const rest = fields
    ? { ...object, metadata: { ...(metadata as JsonObject), managedFields: null } }
    : object;
  return isDeeper(rest, maxDepth) || isDeeper(fields, deepest);
}

/** Without recursion: whatever was stored. */
function depthOf(value: unknown): number {
  let levels = 0;
  let next: object[] = [value].filter(isNested);
  for (; next.length > 0; levels++) next = next.flatMap((one) => Object.values(one).filter(isNested));
  return levels;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Looks no further than so many levels. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return children.some((child) => isDeeper(child, levels - 1));
}
