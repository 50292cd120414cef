import type { JsonObject } from '../../object.ts';
import { isRecord, record, records, text } from '../../untyped.ts';
import { deepest } from './structural.ts';

const isMap = (value: unknown) => Object.keys(record(value)).length > 0;

const unsupported: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ['id', (value) => text(value) !== ''],
  ['$ref', (value) => text(value) !== ''],
  ['patternProperties', isMap],
  ['dependencies', isMap],
  ['additionalItems', (value) => value !== undefined && value !== null],
  ['definitions', isMap],
];

/** Why nothing structural can be made of a schema: of one that says this, its structure and rules are not looked at. */
export function whyUnbuilt(schema: JsonObject, depth = 0): string | undefined {
  if (depth > deepest) return undefined;
  if (text(schema['$schema']) !== '') return "OpenAPIV3Schema 'schema' is not supported";
  for (const [name, isSaid] of unsupported)
    if (isSaid(schema[name])) return `OpenAPIV3Schema '${name}' is not supported`;
  const { items } = schema;
  if (Array.isArray(items) && items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  const below = [
    items,
    ...Object.values(record(schema['properties'])),
    schema['additionalProperties'],
    ...['allOf', 'anyOf', 'oneOf'].flatMap((name) => records(schema[name])),
    schema['not'],
  ];
  for (const one of below) {
    const why = isRecord(one) ? whyUnbuilt(one, depth + 1) : undefined;
    if (why !== undefined) return why;
  }
  return undefined;
}
