import type { Json, JsonObject } from '../object.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';
import { isRecord } from '../untyped.ts';
import { keyElement, type PathElement, valueElement } from './path-element.ts';

/** A value's place: undefined where nothing stands; null is something. */
export type Maybe = Json | undefined;

export type Atom = 'scalar' | 'list' | 'map';

export const anySchema: Schema = { type: 'any' };

/**
 * How a value is walked. Schemas of `any` follow the value: maps field by field, lists as a whole. Undefined
 * when neither schema nor value says.
 */
export function atomOf(schema: Schema, value: Maybe): Atom | undefined {
  switch (schema.type) {
    case 'object':
    case 'map':
      return 'map';
    case 'list':
      return 'list';
    case 'any':
      if (value === undefined || value === null) return undefined;
      return Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';
    default:
      return 'scalar';
  }
}

export function isAtomic(schema: Schema): boolean {
  switch (schema.type) {
    case 'object':
    case 'map':
    case 'any':
      return schema.atomic === true;
    case 'list':
      return schema.listType === undefined || schema.listType === 'atomic';
    default:
      return false;
  }
}

/** What a schema of `any` says of a value that is a map. */
function asMapSchema(schema: Schema): Schema {
  return (schema.type === 'any' && schema.known) || schema;
}

export function isDeclared(schema: Schema, key: string): boolean {
  const known = asMapSchema(schema);
  return known.type === 'object' && known.fields.has(key);
}

/** The schema of a map's entry; undefined for a field nobody declared. */
export function entrySchema(schema: Schema, key: string): Schema | undefined {
  const known = asMapSchema(schema);
  switch (known.type) {
    case 'object':
      return known.fields.get(key)?.schema ?? (known.open || known.loose ? anySchema : undefined);
    case 'map':
      return known.values;
    case 'any':
      return anySchema;
    default:
      return undefined;
  }
}

export function itemSchema(schema: Schema): Schema {
  return schema.type === 'list' ? schema.items : anySchema;
}

/** What Go writes for a field of a present struct that nothing set; undefined where it writes nothing. */
export function zeroOf(schema: Schema, key: string): Maybe {
  return schema.type === 'object' ? (schema.fields.get(key)?.zero as Maybe) : undefined;
}

export function asMap(value: Maybe): JsonObject | undefined {
  return isRecord(value) ? (value as JsonObject) : undefined;
}

export function asList(value: Maybe): Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Why an item has no place in its list. */
export class ItemError extends Error {}

/** The path element of an item of a set or a map list. Throws ItemError. */
export function itemElement(list: ListSchema, item: Json): PathElement {
  return list.listType === 'map' ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListSchema, item: Json): PathElement {
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  const map = asMap(item);
  if (!map) throw new ItemError('associative list with keys may not have non-map elements');
  const names = list.listMapKeys ?? [];
  const keys: [string, Json][] = [];
  for (const name of names) {
    const value = Object.hasOwn(map, name) ? map[name] : keyDefault(list, name);
    if (value !== undefined) keys.push([name, value]);
  }
  if (names.length > 0 && keys.length === 0) {
    const quoted = names.map((name) => JSON.stringify(name)).join(' ');
    throw new ItemError(
      `associative list with keys has an element that omits all key fields [${quoted}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}

function keyDefault(list: ListSchema, name: string): Maybe {
  const field = list.items.type === 'object' ? list.items.fields.get(name) : undefined;
  return field?.default as Maybe;
}

function setElement(item: Json): PathElement {
  if (item === null)
    throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') {
    throw new ItemError("associative list without keys has an element that's a map type");
  }
  return valueElement(item);
}
