import type { Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { isRecord, setOwn } from '../untyped.ts';
import { FieldSet } from './fields.ts';
import type { Managers } from './managers.ts';
import { fieldSetOf, remove, withNamedFields } from './typed.ts';

/**
 * Removes from the merged object what the applier applied last time and not now, unless somebody else owns it.
 * `managers` already holds the applier's new set, `last` is its old one. Emptied maps and lists become null.
 */
export function prune(merged: JsonObject, managers: Managers, last: FieldSet, schema: Schema): JsonObject {
  let disowned = last;
  for (const { set } of managers.values()) disowned = disowned.difference(set);
  if (disowned.isEmpty()) return merged;
  const lastNamed = withNamedFields(last, schema);
  const mergedNamed = withNamedFields(fieldSetOf(merged, schema), schema);
  let pruned = remove(merged, lastNamed, schema);
  let owned = new FieldSet();
  for (const { set } of managers.values()) owned = owned.union(set);
  const kept = withNamedFields(fieldSetOf(pruned, schema), schema).union(withNamedFields(owned, schema));
  pruned = remove(merged, mergedNamed.difference(kept), schema);
  const prunedNamed = withNamedFields(fieldSetOf(pruned, schema), schema);
  return remove(merged, mergedNamed.difference(prunedNamed).intersection(lastNamed), schema) as JsonObject;
}

/** Takes away the nulls that pruning put where something was. */
export function dropPrunedNulls(pruned: JsonObject, merged: JsonObject): JsonObject {
  return clean(pruned, merged) as JsonObject;
}

function clean(pruned: Json, merged: Json | undefined): Json | undefined {
  if (pruned === merged) return pruned;
  if (pruned === null) return merged === null ? null : undefined;
  if (Array.isArray(pruned)) {
    // Items keep their identity unless pruned inside; whose counterpart is which does not matter for nulls.
    return pruned.map((item) => clean(item, undefined)).filter((item): item is Json => item !== undefined);
  }
  if (!isRecord(pruned)) return pruned;
  const result: JsonObject = {};
  const before = isRecord(merged) ? (merged as JsonObject) : {};
  for (const [key, item] of Object.entries(pruned as JsonObject)) {
    const value = clean(item, Object.hasOwn(before, key) ? before[key] : undefined);
    if (value !== undefined) setOwn(result, key, value);
  }
  return result;
}
