import type { GroupVersionKind } from '../gvk.ts';
import type { JsonObject } from '../object.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { record } from '../untyped.ts';
import type { Dialect } from './definition.ts';
import { conventions, headOf } from './head.ts';
import { openapiOf } from './own.ts';
import { preserve, publishedSchema } from './structural.ts';

/** A kind that is not built in. */
export interface CustomKind {
  /** A CRD's openAPIV3Schema, or a Schema of ours. */
  readonly schema: JsonObject | ObjectSchema;
  /** Default: the kind and `List`. */
  readonly listKind?: string | undefined;
  /** JSON paths such as `.spec.color`. */
  readonly selectableFields?: readonly string[] | undefined;
}

/** `org.example.v1.Widget`, as Kubernetes names the kinds of CRDs. */
export function customName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.');
}

export function customDefinition(custom: CustomKind, dialect: Dialect): JsonObject {
  const { schema } = custom;
  const body = isSchema(schema) ? openapiOf(schema) : schema;
  // kubectl takes what is not named for unknown.
  if (dialect.version === 2 && body[preserve] === true) return { type: 'object', ...selectable(custom) };
  const root = publishedSchema(body, dialect);
  const properties = { ...record(root['properties']), ...headOf('ObjectMeta', dialect) };
  return { ...root, type: 'object', properties, ...selectable(custom) };
}

/** Of objects of `gvk`, which are called `plural`. */
export function customList(
  gvk: GroupVersionKind,
  plural: string,
  custom: CustomKind,
  dialect: Dialect,
): JsonObject {
  const items = { $ref: dialect.prefix + customName(gvk) };
  const description = `List of ${plural}. More info: ${conventions}`;
  return {
    description: `${listKindOf(gvk, custom)} is a list of ${gvk.kind}`,
    type: 'object',
    required: ['items'],
    properties: { ...headOf('ListMeta', dialect), items: { description, type: 'array', items } },
    ...selectable(custom),
  };
}

export function listKindOf({ kind }: GroupVersionKind, { listKind }: CustomKind): string {
  return listKind ?? `${kind}List`;
}

function selectable({ selectableFields = [] }: CustomKind): JsonObject {
  if (selectableFields.length === 0) return {};
  const paths = selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') }));
  return { 'x-kubernetes-selectable-fields': paths };
}

function isSchema(schema: CustomKind['schema']): schema is ObjectSchema {
  return schema['fields'] instanceof Map;
}
