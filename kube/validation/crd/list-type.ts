import type { JsonObject } from '../../object.ts';
import { isRecord, record, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { shownSchema } from './shown.ts';

const listTypes = ['atomic', 'set', 'map'];
const mapTypes = ['atomic', 'granular'];
const listTypeKey = 'x-kubernetes-list-type';
const mapTypeKey = 'x-kubernetes-map-type';
const keysKey = 'x-kubernetes-list-map-keys';

function needsType(schema: JsonObject, type: string, why: string, field: Field): boolean {
  const given = text(schema['type']);
  if (given === type) return true;
  const rule = `must be ${type} if ${why} is specified`;
  if (given) field.child('type').invalid(given, rule);
  else field.child('type').required(rule);
  return false;
}

export function mapType(schema: JsonObject, field: Field): void {
  const type = schema[mapTypeKey];
  if (typeof type !== 'string') return;
  needsType(schema, 'object', mapTypeKey, field);
  if (!mapTypes.includes(type)) field.child(mapTypeKey).notSupported(type, mapTypes);
}

/** https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy */
export function listType(schema: JsonObject, field: Field): void {
  const type = schema[listTypeKey];
  const keys = strings(schema[keysKey]);
  const path = field.child(listTypeKey);
  if (typeof type === 'string') {
    if (needsType(schema, 'array', listTypeKey, field) && type === 'set')
      setItems(schema['items'], field.child('items'));
    if (!listTypes.includes(type)) path.notSupported(type, listTypes);
  }
  const rule = `must be map if ${keysKey} is non-empty`;
  if (keys.length > 0 && typeof type !== 'string') path.required(rule);
  else if (keys.length > 0 && type !== 'map') path.invalid(type, rule);
  if (type === 'map') mapItems(schema, keys, field);
  if (type === 'map' || type === 'set') itemRules(schema['items'], type, keys, field.child('items'));
}

function setItems(items: unknown, field: Field): void {
  if (!isRecord(items)) return;
  const rule = `must be atomic as item of a list with ${listTypeKey}=set`;
  const inner = items[listTypeKey];
  if (items['type'] === 'array' && inner !== undefined && inner !== 'atomic')
    field.child(listTypeKey).invalid(inner, rule);
  if (items['type'] === 'object' && items[mapTypeKey] !== 'atomic')
    field.child(mapTypeKey).invalid(inner ?? null, rule);
}

function mapItems(schema: JsonObject, keys: readonly string[], field: Field): void {
  const { items } = schema;
  const path = field.child(keysKey);
  if (keys.length === 0) path.required(`must not be empty if ${listTypeKey} is map`);
  if (items !== undefined && !isRecord(items)) {
    const shown = {
      Schema: null,
      JSONSchemas: Array.isArray(items) ? items.map((one) => shownSchema(one)) : null,
    };
    field.child('items').invalid(shown, `must only have a single schema if ${listTypeKey} is map`);
    return;
  }
  if (!isRecord(items)) {
    field.child('items').required(`must have a schema if ${listTypeKey} is map`);
    return;
  }
  const parent = `if parent array's ${listTypeKey} is map`;
  if (items['type'] !== 'object') {
    field.child('items', 'type').invalid(text(items['type']), `must be object ${parent}`);
    return;
  }
  const properties = record(items['properties']);
  const before = new Set<string>();
  for (const key of keys) {
    if (!Object.hasOwn(properties, key)) path.invalid(keys, 'entries must all be names of item properties');
    else if (['array', 'object'].includes(text(record(properties[key])['type'])))
      field
        .child('items', 'properties')
        .key(key)
        .child('type')
        .invalid('object', `must be a scalar type ${parent}`);
    if (before.has(key)) path.invalid(keys, 'must not contain duplicate entries');
    before.add(key);
  }
}

function itemRules(items: unknown, type: string, keys: readonly string[], field: Field): void {
  if (!isRecord(items)) return;
  if (items['nullable'] === true)
    field.child('nullable').forbidden(`cannot be nullable when ${listTypeKey} is ${type}`);
  const properties = record(items['properties']);
  const required = new Set(strings(items['required']));
  for (const key of type === 'map' ? keys : []) {
    if (!Object.hasOwn(properties, key)) continue;
    const property = record(properties[key]);
    const path = field.child('properties').key(key);
    const there = property['default'] !== undefined && property['default'] !== null;
    const why = `this property is in ${keysKey}, so it`;
    if (!required.has(key) && !there)
      path.child('default').required(`${why} must have a default or be a required property`);
    if (property['nullable'] === true) path.child('nullable').forbidden(`${why} cannot be nullable`);
  }
}
