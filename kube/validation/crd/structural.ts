import { sameJson } from '../../deep.ts';
import type { JsonObject } from '../../object.ts';
import { regexProblem } from '../../regex.ts';
import { isRecord, record, records, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';

type Level = 'root' | 'item' | 'field';

/** Deeper schemas are served, and looked at no further. */
export const deepest = 100;

const emptyType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};
const intOrString = [{ type: 'integer' }, { type: 'string' }];
const preserves = (schema: JsonObject) => schema['x-kubernetes-preserve-unknown-fields'] === true;
const embeds = (schema: JsonObject) => schema['x-kubernetes-embedded-resource'] === true;
const isIntOrString = (schema: JsonObject) => schema['x-kubernetes-int-or-string'] === true;

/** What makes a schema not structural. https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema */
export function structural(schema: JsonObject, field: Field): void {
  invariants(schema, 'root', field, 0);
  complete(schema, schema, field, field, 0);
}

function invariants(schema: JsonObject, level: Level, field: Field, depth: number): void {
  if (depth > deepest) return;
  const { items, additionalProperties: more } = schema;
  const type = text(schema['type']);
  if (type === 'array' && !isRecord(items)) field.child('items').required('must be specified');
  if (isRecord(items)) invariants(items, 'item', field.child('items'), depth + 1);
  const properties = record(schema['properties']);
  for (const [name, value] of Object.entries(properties))
    invariants(record(value), 'field', field.child('properties').key(name), depth + 1);
  if (more !== undefined && level === 'root')
    field.child('additionalProperties').forbidden('must not be used at the root');
  if (isRecord(more)) invariants(more, 'field', field.child('additionalProperties'), depth + 1);
  extensions(schema, field);
  const first = records(schema['allOf'])[0];
  const skip = {
    anyOf: sameJson(schema['anyOf'], intOrString),
    first: sameJson(first?.['anyOf'], intOrString),
  };
  valueValidation(schema, skip, field, depth);
  typeOf(schema, type, level, field);
  metadata(properties, level, level === 'root' || embeds(schema), field);
  if (embeds(schema) && !preserves(schema) && Object.keys(properties).length === 0) {
    const rule =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    field.child('properties').required(rule);
  }
}

function extensions(schema: JsonObject, field: Field): void {
  if (!isIntOrString(schema)) return;
  const rule = 'must be false if x-kubernetes-int-or-string is true';
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'])
    if (schema[name] === true) field.child(name).invalid(true, rule);
}

function typeOf(schema: JsonObject, type: string, level: Level, field: Field): void {
  const path = field.child('type');
  if (embeds(schema) && type !== 'object') {
    const rule = 'must be object if x-kubernetes-embedded-resource is true';
    if (type) path.invalid(type, rule);
    else path.required(rule);
  } else if (!type && !isIntOrString(schema) && !preserves(schema)) path.required(emptyType[level]);
  if (embeds(schema) && schema['additionalProperties'] !== undefined)
    field
      .child('additionalProperties')
      .forbidden('must not be used if x-kubernetes-embedded-resource is set');
  if (level === 'root' && type && type !== 'object') path.invalid(type, 'must be object at the root');
}

function metadata(properties: JsonObject, level: Level, checked: boolean, field: Field): void {
  const own = (name: string) => (Object.hasOwn(properties, name) ? record(properties[name]) : undefined);
  for (const name of checked ? ['kind', 'apiVersion'] : []) {
    const type = text(own(name)?.['type']);
    if (own(name) && type !== 'string')
      field.child('properties').key(name).child('type').invalid(type, 'must be string');
  }
  const meta = own('metadata');
  if (!meta) return;
  const path = field.child('properties').key('metadata');
  const { type, properties: named, default: _default, ...others } = meta;
  if (checked && type !== 'object') path.child('type').invalid(text(type), 'must be object');
  const names = Object.keys(record(named));
  const known = names.every((name) => name === 'name' || name === 'generateName');
  if (level === 'root' && (!known || Object.keys(others).length > 0)) {
    const rule =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    path.forbidden(rule);
  }
}

interface Skip {
  anyOf: boolean;
  first: boolean;
}

const noSkip: Skip = { anyOf: false, first: false };

function valueValidation(schema: JsonObject, skip: Skip, field: Field, depth: number): void {
  if (depth > deepest) return;
  for (const name of ['anyOf', 'allOf', 'oneOf']) {
    if (name === 'anyOf' && skip.anyOf) continue;
    for (const [index, one] of records(schema[name]).entries()) {
      const anyOf = name === 'allOf' && index === 0 && skip.first;
      nested(one, { anyOf, first: false }, field.child(name).index(index), depth + 1);
    }
  }
  if (isRecord(schema['not'])) nested(schema['not'], noSkip, field.child('not'), depth + 1);
  const pattern = text(schema['pattern']);
  const problem = pattern === '' ? undefined : regexProblem(pattern);
  if (problem !== undefined)
    field.child('pattern').invalid(pattern, `must be a valid regular expression, but isn't: ${problem}`);
}

/** What a part of anyOf and its like may not say, and how it must be instead. */
const forbidden: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  ['type', (value) => text(value) !== '', 'must be empty to be structural'],
  ['additionalProperties', (value) => value !== undefined, 'must be undefined to be structural'],
  ['default', (value) => value !== undefined && value !== null, 'must be undefined to be structural'],
  ['title', (value) => text(value) !== '', 'must be empty to be structural'],
  ['description', (value) => text(value) !== '', 'must be empty to be structural'],
  ['nullable', (value) => value === true, 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', (value) => value === true, 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', (value) => value === true, 'must be false to be structural'],
  ['x-kubernetes-int-or-string', (value) => value === true, 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', (value) => strings(value).length > 0, 'must be empty to be structural'],
  ['x-kubernetes-list-type', (value) => typeof value === 'string', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', (value) => typeof value === 'string', 'must be undefined to be structural'],
  ['x-kubernetes-validations', (value) => records(value).length > 0, 'must be empty to be structural'],
];

function nested(schema: JsonObject, skip: Skip, field: Field, depth: number): void {
  if (depth > deepest) return;
  valueValidation(schema, skip, field, depth);
  if (isRecord(schema['items'])) nested(schema['items'], noSkip, field.child('items'), depth + 1);
  const properties = record(schema['properties']);
  for (const [name, value] of Object.entries(properties))
    nested(record(value), noSkip, field.child('properties').key(name), depth + 1);
  for (const [name, isSaid, rule] of forbidden) if (isSaid(schema[name])) field.child(name).forbidden(rule);
  if (Object.hasOwn(properties, 'metadata'))
    field.child('properties').key('metadata').forbidden('must not be specified in a nested context');
}

/** What is said about a field within anyOf and its like needs the field outside. */
function complete(value: JsonObject, schema: JsonObject, at: Field, said: Field, depth: number): void {
  if (depth > deepest) return;
  if (isRecord(value['not'])) completeNested(value['not'], schema, at, said.child('not'), depth + 1);
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    for (const [index, one] of records(value[name]).entries())
      completeNested(one, schema, at, said.child(name).index(index), depth + 1);
  }
}

function completeNested(value: JsonObject, schema: unknown, at: Field, said: Field, depth: number): void {
  if (!isRecord(schema)) {
    at.required(`because it is defined in ${said.path}`);
    return;
  }
  complete(value, schema, at, said, depth);
  if (isRecord(value['items']))
    completeNested(value['items'], schema['items'], at.child('items'), said.child('items'), depth + 1);
  const properties = record(schema['properties']);
  for (const [name, one] of Object.entries(record(value['properties']))) {
    const [here, there] = [at.child('properties').key(name), said.child('properties').key(name)];
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    completeNested(record(one), own, here, there, depth + 1);
  }
}
