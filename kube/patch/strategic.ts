import type { Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { isRecord, setOwn } from '../untyped.ts';
import {
  badElementOrder,
  badPrimitiveList,
  badRetainKeys,
  goText,
  unclassified,
  unknownDirective,
  wrongType,
} from './strategic-errors.ts';
import { directiveMarker, elementKind, mergeKeyOf, mergeLists, orderElements } from './strategic-list.ts';
import { lookupSlice, lookupStruct } from './strategic-schema.ts';

const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList';
const elementOrder = '$setElementOrder';

/**
 * Strategic merge patch: a merge patch that knows lists, by the tags in `schema`.
 * https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/
 * Neither argument is changed; the result may share parts with both. Throws StatusError as kube-apiserver answers.
 */
export function applyStrategicMergePatch(current: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeObjects(current, patch, schema);
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function mergeObjects(current: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  const directive = own(patch, directiveMarker);
  if (directive !== undefined) return applyDirective(directive, patch);
  const { [retainKeys]: retained, ...rest } = patch;
  const result = retained === undefined ? { ...current } : retainOnly(current, rest, retained);
  for (const key of Object.keys(rest)) {
    if (key.startsWith(elementOrder)) mergeOrdered(result, rest, key, schema);
  }
  for (const [key, value] of Object.entries(rest)) {
    if (key.startsWith(deleteFromList))
      deleteElements(result, listField(key, badPrimitiveList), value, schema);
    else mergeField(result, key, value, schema);
  }
  return result;
}

function applyDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownDirective(directive, patch);
  const { [directiveMarker]: _, ...rest } = patch;
  return rest;
}

function retainOnly(current: JsonObject, patch: JsonObject, retained: Json): JsonObject {
  if (!Array.isArray(retained)) throw badRetainKeys();
  const keys = new Set(retained);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || key.startsWith(deleteFromList) || key.startsWith(elementOrder)) continue;
    if (!keys.has(key)) throw badRetainKeys();
  }
  return Object.fromEntries(Object.entries(current).filter(([key]) => keys.has(key)));
}

function mergeField(result: JsonObject, key: string, value: Json, schema: Schema): void {
  const before = own(result, key);
  if (value === null) {
    delete result[key];
  } else if (isRecord(before) && isRecord(value)) {
    const { strategy, schema: type } = lookupStruct(schema, key);
    const change = value as JsonObject;
    setOwn(result, key, strategy === 'replace' ? change : mergeObjects(before as JsonObject, change, type));
  } else if (Array.isArray(before) && Array.isArray(value)) {
    const { strategy, schema: items, mergeKey } = lookupSlice(schema, key);
    const merged = strategy === 'merge' ? mergeLists(before, value, items, mergeKey, mergeObjects) : value;
    setOwn(result, key, merged);
  } else {
    // Nothing there, or of another type: the patch's value, without what only directs a merge.
    const clean = withoutDirectives(withoutNulls(value));
    if (clean === undefined) delete result[key];
    else setOwn(result, key, clean);
  }
}

/** The field that `$setElementOrder/field` or `$deleteFromPrimitiveList/field` speaks of. */
function listField(key: string, error: () => Error): string {
  const slash = key.indexOf('/');
  const directive = key.slice(0, slash);
  if (directive !== elementOrder && directive !== deleteFromList) throw error();
  return key.slice(slash + 1);
}

/** Of objects nothing is deleted: they are merged, whatever the field's strategy. */
function deleteElements(result: JsonObject, key: string, value: Json, schema: Schema): void {
  const before = own(result, key);
  if (value === null) delete result[key];
  if (!Array.isArray(before) || !Array.isArray(value)) return;
  if (elementKind(before, value) === 'map') {
    const { schema: items, mergeKey } = lookupSlice(schema, key);
    setOwn(result, key, mergeLists(before, value, items, mergeKey, mergeObjects));
    return;
  }
  const gone = new Set(value);
  setOwn(
    result,
    key,
    before.filter((item) => !gone.has(item)),
  );
}

/** Merges the list named by a `$setElementOrder/` key and orders it; takes both from the patch. */
function mergeOrdered(result: JsonObject, patch: JsonObject, directive: string, schema: Schema): void {
  const order = own(patch, directive);
  delete patch[directive];
  if (!Array.isArray(order)) throw wrongType('list', order);
  const key = listField(directive, badElementOrder);
  const before = own(result, key);
  const change = own(patch, key);
  if (before !== undefined && !Array.isArray(before)) throw wrongType('list', before);
  if (change !== undefined && !Array.isArray(change)) throw wrongType('list', change);
  const meta = lookupSlice(schema, key);
  checkOrder(change ?? [], order, meta.mergeKey);
  let merged: Json[];
  if (before === undefined && change === undefined) return;
  if (change === undefined) merged = before ?? [];
  else if (before === undefined) merged = withoutDirectives(change) as Json[];
  else if (meta.strategy !== 'merge') merged = change;
  else merged = mergeLists(before, change, meta.schema, meta.mergeKey, mergeObjects);
  if (elementKind(before ?? [], change ?? []) === undefined) {
    throw unclassified('no elements in any of the given slices');
  }
  setOwn(result, key, orderElements(merged, order, before ?? [], meta.mergeKey));
  delete patch[key];
}

/** The patch's own elements must appear in the order, in that order. */
function checkOrder(change: Json[], order: Json[], mergeKey: string): void {
  if (order.length === 0 || change.length === 0) return;
  const identity = (item: Json) => (mergeKey === '' ? item : mergeKeyOf(item, mergeKey));
  const items = mergeKey === '' ? change : change.filter((item) => directiveOf(item) !== 'delete');
  let i = 0;
  for (let at = 0; i < items.length && at < order.length; ) {
    const item = items[i] ?? null;
    if (directiveOf(item) !== undefined) i++;
    else if (identity(item) === identity(order[at++] ?? null)) i++;
    if (at === order.length && i < items.length) {
      throw unclassified(
        `The order in patch list:\n${goText(change)}\n doesn't match ${elementOrder} list:\n${goText(order)}\n`,
      );
    }
  }
}

function directiveOf(item: Json): Json | undefined {
  return isRecord(item) ? own(item as JsonObject, directiveMarker) : undefined;
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value as JsonObject)) {
    if (item !== null) setOwn(result, key, withoutNulls(item));
  }
  return result;
}

/** Undefined where the value itself is a directive. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item): item is Json => item !== undefined);
  }
  if (!isRecord(value)) return value;
  if (Object.hasOwn(value, directiveMarker)) return undefined;
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value as JsonObject)) {
    const clean = withoutDirectives(item);
    if (clean !== undefined) setOwn(result, key, clean);
  }
  return result;
}
