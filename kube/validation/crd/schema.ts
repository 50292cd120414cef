import { escapeName } from '../../cel/value.ts';
import type { JsonObject } from '../../object.ts';
import { isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { type Above, belowContext, type CelContext } from './context.ts';
import { listType, mapType } from './list-type.ts';
import { rules } from './rules.ts';
import { deepest } from './structural.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields = ['metadata', 'kind', 'apiVersion'];

const unsupported: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ['id', (value) => text(value) !== ''],
  ['additionalItems', (value) => value !== undefined && value !== null],
  ['patternProperties', (value) => Object.keys(record(value)).length > 0],
  ['definitions', (value) => Object.keys(record(value)).length > 0],
  ['dependencies', (value) => isRecord(value)],
  ['$ref', (value) => typeof value === 'string'],
];

function standard(schema: JsonObject, above: Above, field: Field): void {
  const type = text(schema['type']);
  if (type && !types.includes(type)) field.child('type').notSupported(type, types);
  if (schema['default'] !== undefined && schema['default'] !== null && above.noDefaults !== undefined)
    field.child('default').forbidden(`must not be set ${above.noDefaults}`);
  for (const [name, isSaid] of unsupported)
    if (isSaid(schema[name])) field.child(name).forbidden(`${name} is not supported`);
  if (type === 'null')
    field.child('type').forbidden('type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema['items']) && schema['items'].length > 0)
    field.child('items').forbidden('items must be a schema object and not an array');
  if (above.insideMeta && schema['x-kubernetes-embedded-resource'] === true)
    field.child('x-kubernetes-embedded-resource').forbidden('must not be used inside of resource meta');
}

/**
 * What is wrong with a schema and those below it, beyond its structure. Rules are compiled in what is sound, and where
 * there is a context: there is none within anyOf and its like.
 */
export function openApiSchema(
  schema: JsonObject,
  above: Above,
  cel: CelContext | undefined,
  field: Field,
  depth = 0,
): void {
  if (depth > deepest) return;
  const before = field.causes.length;
  standard(schema, above, field);
  if (schema['uniqueItems'] === true) {
    const rule = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    field.child('uniqueItems').forbidden(rule);
  }
  const { isRoot, ...inherited } = above;
  objectSchema(schema, { isRoot: isRoot === true, inherited, cel }, field, depth);
  const { items } = schema;
  if (isRecord(items)) {
    const matched = schema['x-kubernetes-list-type'] === 'map' || inherited.uncorrelated !== undefined;
    openApiSchema(
      items,
      matched ? inherited : { ...inherited, uncorrelated: field.path },
      belowContext(cel, items, (around) => around.items),
      field.child('items'),
      depth + 1,
    );
  }
  if (isRecord(schema['not']))
    openApiSchema(schema['not'], inherited, undefined, field.child('not'), depth + 1);
  for (const name of ['allOf', 'oneOf', 'anyOf'])
    for (const [index, one] of records(schema[name]).entries())
      openApiSchema(one, inherited, undefined, field.child(name).index(index), depth + 1);
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    field.child('x-kubernetes-preserve-unknown-fields').invalid(false, 'must be true or undefined');
  mapType(schema, field);
  listType(schema, field);
  rules(schema, above, cel, field.causes.length === before, field);
}

function objectSchema(
  schema: JsonObject,
  { isRoot, inherited, cel }: { isRoot: boolean; inherited: Above; cel: CelContext | undefined },
  field: Field,
  depth: number,
): void {
  const more = schema['additionalProperties'];
  const properties = Object.entries(record(schema['properties']));
  if (properties.length > 0 && (more === false || isRecord(more)))
    field.child('additionalProperties').forbidden('additionalProperties and properties are mutual exclusive');
  if (isRecord(more)) {
    const noDefaults = 'inside additionalProperties applying to object metadata';
    const below = inherited.insideMeta ? { ...inherited, noDefaults } : inherited;
    const values = belowContext(cel, more, (around) => around.values);
    openApiSchema(more, below, values, field.child('additionalProperties'), depth + 1);
  }
  const mapTypeOf = schema['x-kubernetes-map-type'];
  const matched = mapTypeOf === undefined || mapTypeOf === 'granular' || inherited.uncorrelated !== undefined;
  for (const [name, value] of properties) {
    const isMeta = metaFields.includes(name) && (isRoot || schema['x-kubernetes-embedded-resource'] === true);
    const below: Above = {
      ...inherited,
      ...(!matched && { uncorrelated: field.path }),
      ...(isMeta && { insideMeta: true }),
      ...(isMeta && isRoot && { noDefaults: `in top-level ${name}` }),
    };
    const one = record(value);
    const context = belowContext(cel, one, (around) => around.fields?.get(escapeName(name)));
    openApiSchema(one, below, context, field.child('properties').key(name), depth + 1);
  }
}
