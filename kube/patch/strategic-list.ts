import type { Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { isRecord } from '../untyped.ts';
import {
  goText,
  listOfLists,
  noMergeKey,
  unclassified,
  unknownDirective,
  wrongType,
} from './strategic-errors.ts';
import { kindOf } from './strategic-schema.ts';

export const directiveMarker = '$patch';

export type MergeObjects = (current: JsonObject, patch: JsonObject, schema: Schema) => JsonObject;

export type ElementKind = 'map' | 'scalar';

/** All elements of all lists alike, and no lists themselves. Undefined when there are none. */
export function elementKind(...lists: readonly (readonly Json[])[]): ElementKind | undefined {
  let first: string | undefined;
  for (const item of lists.flat()) {
    if (Array.isArray(item)) throw listOfLists();
    const type = item === null ? 'null' : typeof item;
    first ??= type;
    if (type !== first) throw unclassified(`list element types are not identical: ${goText(lists as Json)}`);
  }
  return first === undefined ? undefined : first === 'object' ? 'map' : 'scalar';
}

function asMap(item: Json): JsonObject {
  if (isRecord(item)) return item as JsonObject;
  throw wrongType('map', item);
}

export function mergeKeyOf(item: Json, mergeKey: string): Json {
  const map = asMap(item);
  const value = Object.hasOwn(map, mergeKey) ? map[mergeKey] : undefined;
  if (value === undefined) throw noMergeKey(item, mergeKey);
  return value;
}

/** What elements are told apart by. */
function identity(item: Json, mergeKey: string): Json {
  return mergeKey === '' ? item : mergeKeyOf(item, mergeKey);
}

/** Merge of two lists of a field whose strategy is merge. `merge` merges two elements of the same key. */
export function mergeLists(
  current: readonly Json[],
  patch: readonly Json[],
  schema: Schema,
  mergeKey: string,
  merge: MergeObjects,
): Json[] {
  const kind = elementKind(current, patch);
  if (kind === undefined) return [];
  if (kind === 'scalar') {
    return orderElements([...new Set([...current, ...patch])], patch, current, mergeKey);
  }
  if (mergeKey === '') {
    throw unclassified(`cannot merge lists without merge key for ${kindOf(schema)}`);
  }
  const special = applyElementDirectives(current, patch, mergeKey);
  const merged = special.current.slice();
  const places = new Map<Json | undefined, number>();
  for (const [at, item] of merged.entries()) placed(asMap(item)[mergeKey], at);
  for (const item of special.patch) {
    const key = mergeKeyOf(item, mergeKey);
    const at = places.get(key);
    if (at === undefined) placed(key, merged.push(item) - 1);
    else merged[at] = merge(asMap(merged[at] ?? null), asMap(item), schema);
  }
  return orderElements(merged, special.patch, special.current, mergeKey);

  /** Of elements with one key the first counts. */
  function placed(key: Json | undefined, at: number): void {
    if (!places.has(key)) places.set(key, at);
  }
}

/** Elements carrying `$patch` act on the list and are gone. */
function applyElementDirectives(current: readonly Json[], patch: readonly Json[], mergeKey: string) {
  const deleted = new Set<Json | undefined>();
  let replace = false;
  const rest: Json[] = [];
  for (const item of patch) {
    const map = asMap(item);
    const directive = Object.hasOwn(map, directiveMarker) ? map[directiveMarker] : undefined;
    if (directive === undefined) rest.push(item);
    else if (directive === 'delete') deleted.add(mergeKeyOf(item, mergeKey));
    else if (directive === 'replace') replace = true;
    else if (directive === 'merge') throw unclassified('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(directive, item);
  }
  if (replace) return { current: rest, patch: [] };
  return { current: current.filter((item) => !deleted.has(asMap(item)[mergeKey])), patch: rest };
}

/**
 * Elements named in `order` in that order; the others keep theirs from `live`, each put before the first
 * ordered element that followed it there.
 */
export function orderElements(
  elements: readonly Json[],
  order: readonly Json[],
  live: readonly Json[],
  mergeKey: string,
): Json[] {
  const orderIndex = indexBy(order, mergeKey);
  const liveIndex = indexBy(live, mergeKey);
  const ordered: Json[] = [];
  const others: Json[] = [];
  for (const item of elements) (orderIndex.has(identity(item, mergeKey)) ? ordered : others).push(item);
  sortBy(ordered, orderIndex, mergeKey);
  sortBy(others, liveIndex, mergeKey);
  const result: Json[] = [];
  let i = 0;
  let j = 0;
  while (i < others.length || j < ordered.length) {
    const other = others[i];
    const next = ordered[j];
    if (other !== undefined && (next === undefined || precedes(other, next))) {
      result.push(other);
      i++;
    } else if (next !== undefined) {
      result.push(next);
      j++;
    }
  }
  return result;

  function precedes(a: Json, b: Json): boolean {
    const x = liveIndex.get(identity(a, mergeKey));
    const y = liveIndex.get(identity(b, mergeKey));
    return x !== undefined && y !== undefined && x < y;
  }
}

function indexBy(list: readonly Json[], mergeKey: string): Map<Json, number> {
  const index = new Map<Json, number>();
  list.forEach((item, i) => {
    const key = identity(item, mergeKey);
    if (!index.has(key)) index.set(key, i);
  });
  return index;
}

function sortBy(list: Json[], index: ReadonlyMap<Json, number>, mergeKey: string): void {
  const place = (item: Json) => index.get(identity(item, mergeKey)) ?? -1;
  list.sort((a, b) => place(a) - place(b));
}
