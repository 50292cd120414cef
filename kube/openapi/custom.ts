import type { GroupVersionKind } from '../gvk.ts';
import type { JsonObject } from '../object.ts';
import type { ObjectSchema, Schema } from '../schema/schema.ts';
import { setOwn } from '../untyped.ts';
import type { Dialect } from './definition.ts';
import { docsOf } from './docs.ts';
import { meta } from './words.ts';

/** What describes a kind that is not built in: a CRD's openAPIV3Schema, or a Schema of ours. */
export type CustomSchema = JsonObject | ObjectSchema;

/** `org.example.v1.Widget`, as Kubernetes names the kinds of CRDs. */
export function customName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

export function customDefinition(schema: CustomSchema, dialect: Dialect): JsonObject {
  const body = isSchema(schema) ? fromSchema(schema) : schema;
  // kubectl takes what is not named for unknown.
  if (dialect.version === 2 && body['x-kubernetes-preserve-unknown-fields'] === true)
    return { type: 'object' };
  const properties = (body['properties'] ?? {}) as JsonObject;
  const root: JsonObject = {
    ...body,
    type: 'object',
    properties: {
      ...properties,
      apiVersion: { type: 'string', ...words('apiVersion') },
      kind: { type: 'string', ...words('kind') },
      metadata: { ...described(`${meta}.ObjectMeta`, dialect), description: metadataWords },
    },
  };
  return dialect.version === 2 ? toSwagger(root) : root;
}

/** The types' own words have no such sentence. */
const metadataWords =
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/** As every kind has them. */
function words(field: 'apiVersion' | 'kind'): { description?: string } {
  const description = docsOf('io.k8s.api.core.v1.ConfigMap').fields.get(field);
  return description === undefined ? {} : { description };
}

export function customList(name: string, dialect: Dialect): JsonObject {
  return {
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: ref(name, dialect) },
      kind: { type: 'string' },
      metadata: described(`${meta}.ListMeta`, dialect),
    },
  };
}

function ref(name: string, dialect: Dialect): JsonObject {
  return { $ref: dialect.prefix + name };
}

/** A field that may have words of its own beside the reference: OpenAPI 3.0 ignores what stands beside one. */
function described(name: string, dialect: Dialect): JsonObject {
  return dialect.version === 2 ? ref(name, dialect) : { allOf: [ref(name, dialect)] };
}

/** As an OpenAPI 3 schema, whose words of validation hold for a structural one as well. */
export function openapiOf(schema: ObjectSchema): JsonObject {
  return fromSchema(schema);
}

function isSchema(schema: CustomSchema): schema is ObjectSchema {
  return schema['fields'] instanceof Map;
}

function fromSchema(schema: Schema): JsonObject {
  switch (schema.type) {
    case 'object': {
      const fields = [...schema.fields.values()];
      const required = fields.filter((f) => f.required).map((f) => f.name);
      return {
        ...(schema.description !== undefined && { description: schema.description }),
        type: 'object',
        ...(required.length > 0 && { required }),
        properties: Object.fromEntries(
          fields.map((f) => [
            f.name,
            { ...(f.description !== undefined && { description: f.description }), ...fromSchema(f.schema) },
          ]),
        ),
        ...(schema.open && { 'x-kubernetes-preserve-unknown-fields': true }),
        ...(schema.atomic && { 'x-kubernetes-map-type': 'atomic' }),
      };
    }
    case 'map':
      return {
        type: 'object',
        additionalProperties: fromSchema(schema.values),
        ...(schema.atomic && { 'x-kubernetes-map-type': 'atomic' }),
      };
    case 'list':
      return {
        type: 'array',
        items: fromSchema(schema.items),
        ...(schema.listType && { 'x-kubernetes-list-type': schema.listType }),
        ...(schema.listMapKeys && { 'x-kubernetes-list-map-keys': [...schema.listMapKeys] }),
      };
    case 'string': {
      const format = schema.format === 'quantity' ? undefined : schema.format;
      return { type: 'string', ...(format && { format }), ...(schema.enum && { enum: [...schema.enum] }) };
    }
    case 'integer':
      return { type: 'integer', format: schema.format };
    case 'int-or-string':
      return { 'x-kubernetes-int-or-string': true };
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true };
    default:
      return { type: schema.type };
  }
}

/** OpenAPI 2 knows neither these words nor a type beside "any of": what it cannot say is left open. */
const unknownToSwagger = new Set([
  'oneOf',
  'anyOf',
  'not',
  'nullable',
  'default',
  'x-kubernetes-validations',
]);

function toSwagger(schema: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [word, value] of Object.entries(schema)) {
    if (unknownToSwagger.has(word)) continue;
    if (word === 'properties') {
      const entries = Object.entries(value as JsonObject);
      kept[word] = Object.fromEntries(entries.map(([name, of]) => [name, toSwagger(of as JsonObject)]));
    } else if (word === 'items' || word === 'additionalProperties') {
      kept[word] = typeof value === 'object' && value !== null ? toSwagger(value as JsonObject) : value;
    } else setOwn(kept, word, value);
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || schema['nullable'] === true) {
    for (const word of [
      'type',
      'properties',
      'items',
      'additionalProperties',
      'required',
      'format',
      'enum',
    ]) {
      if (word !== 'type' || schema['x-kubernetes-group-version-kind'] === undefined) delete kept[word];
    }
  }
  return kept;
}
