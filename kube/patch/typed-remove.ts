import type { Json, JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { setOwn } from '../untyped.ts';
import type { FieldSet } from './fields.ts';
import { fieldElement } from './path-element.ts';
import { anySchema, asList, asMap, atomOf, entrySchema, isAtomic, itemElement } from './typed-schema.ts';

/**
 * The object without the set's members. A map or list that loses its last entry becomes null: that tells it
 * from one that was removed itself.
 */
export function remove(object: Json, set: FieldSet, schema: Schema): Json {
  const atom = atomOf(schema, object);
  if (atom === 'scalar') return object;
  if (isAtomic(schema) || (atom === 'list' && schema.type !== 'list')) return null;
  if (schema.type === 'list') return removeItems(asList(object) ?? [], set, schema);
  return removeEntries(asMap(object) ?? {}, set, schema);
}

function removeEntries(map: JsonObject, set: FieldSet, schema: Schema): Json {
  const result: JsonObject = {};
  let kept = false;
  for (const [key, value] of Object.entries(map)) {
    const element = fieldElement(key);
    if (set.members.has(element)) continue;
    const below = set.children.get(element);
    setOwn(result, key, below ? remove(value, below, entrySchema(schema, key) ?? anySchema) : value);
    kept = true;
  }
  return kept ? result : null;
}

function removeItems(list: Json[], set: FieldSet, schema: Schema & { type: 'list' }): Json {
  const result: Json[] = [];
  for (const item of list) {
    const element = itemElement(schema, item);
    if (set.members.has(element)) continue;
    const below = set.children.get(element);
    result.push(below ? remove(item, below, schema.items) : item);
  }
  return result.length > 0 ? result : null;
}
