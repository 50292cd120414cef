import type { JsonObject } from '../object.ts';
import type { GoField, GoShape, GoStruct } from '../schema/go.ts';
import type { Special } from '../schema/table.ts';
import { docsOf, type TypeDocs } from './docs.ts';

/** What differs between an OpenAPI 2 and an OpenAPI 3 definition. */
export interface Dialect {
  readonly version: 2 | 3;
  /** `#/definitions/` or `#/components/schemas/` */
  readonly prefix: string;
}

export const swagger: Dialect = { version: 2, prefix: '#/definitions/' };
export const openapi3: Dialect = { version: 3, prefix: '#/components/schemas/' };

/**
 * The definition of one Go type as Kubernetes publishes it. `refs` takes the structs that it refers to; `docs` may be left
 * out by who reads no texts. https://github.com/kubernetes/kube-openapi describes the extensions.
 */
export function definitionOf(
  struct: GoStruct,
  dialect: Dialect,
  refs: Set<GoStruct>,
  docs: TypeDocs = docsOf(struct.name),
): JsonObject {
  const head: JsonObject = docs.type === undefined ? {} : { description: docs.type };
  if (struct.special !== undefined) return { ...head, ...specialDefinition(struct.special, dialect) };
  const properties: JsonObject = {};
  const required: string[] = [];
  addProperties(struct, dialect, refs, properties, required, docs.fields);
  const { u: union, m: mapType } = struct.raw;
  return {
    ...head,
    type: 'object',
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(mapType && { 'x-kubernetes-map-type': mapType }),
    ...(union && {
      'x-kubernetes-unions': [
        { ...(union.d !== '' && { discriminator: union.d }), 'fields-to-discriminateBy': { ...union.f } },
      ],
    }),
  };
}

function addProperties(
  struct: GoStruct,
  dialect: Dialect,
  refs: Set<GoStruct>,
  into: JsonObject,
  required: string[],
  docs: ReadonlyMap<string, string>,
): void {
  if (struct.typed) {
    for (const name of ['apiVersion', 'kind']) into[name] = described({ type: 'string' }, docs.get(name));
  }
  for (const field of struct.fields) {
    if (field.raw.x?.includes('h')) continue;
    if (field.inline && field.shape.kind === 'struct') {
      addProperties(field.shape.struct, dialect, refs, into, required, docs);
      continue;
    }
    if (field.required) required.push(field.name);
    into[field.name] = described(property(field, dialect, refs), docs.get(field.name));
  }
}

function described(property: JsonObject, description: string | undefined): JsonObject {
  return description === undefined ? property : { description, ...property };
}

function property(field: GoField, dialect: Dialect, refs: Set<GoStruct>): JsonObject {
  const { ps, pk, lt, lk, m, d } = field.raw;
  const value = field.pointer ? undefined : implicitDefault(field.shape, field.omitEmpty);
  const extensions: JsonObject = {
    ...(lk && { 'x-kubernetes-list-map-keys': [...lk] }),
    ...(lt && { 'x-kubernetes-list-type': lt }),
    ...(m && { 'x-kubernetes-map-type': m }),
    ...(pk && { 'x-kubernetes-patch-merge-key': pk }),
    ...(ps && { 'x-kubernetes-patch-strategy': ps.join(',') }),
  };
  const commented = field.raw.x?.includes('c') ?? false;
  return wrap(referenceOrValue(field.shape, dialect, refs), d ?? value, extensions, dialect, commented);
}

/** In OpenAPI 3 nothing may stand beside `$ref`, not even a description; OpenAPI 2 carries no defaults. */
function wrap(
  schema: JsonObject,
  value: unknown,
  extensions: JsonObject,
  dialect: Dialect,
  described: boolean,
): JsonObject {
  const defaults: JsonObject =
    dialect.version === 3 && value !== undefined ? { default: value as JsonObject } : {};
  const bare = Object.keys(defaults).length + Object.keys(extensions).length === 0 && !described;
  if (schema['$ref'] === undefined || dialect.version === 2 || bare)
    return { ...schema, ...defaults, ...extensions };
  return { ...defaults, allOf: [schema], ...extensions };
}

function implicitDefault(shape: GoShape, omitEmpty: boolean): string | number | boolean | object | undefined {
  if (shape.kind === 'struct') return shape.struct.special === undefined ? {} : undefined;
  if (omitEmpty) return undefined;
  if (shape.kind === 'string') return '';
  if (shape.kind === 'bool') return false;
  return shape.kind === 'int32' || shape.kind === 'int64' || shape.kind === 'double' ? 0 : undefined;
}

function referenceOrValue(shape: GoShape, dialect: Dialect, refs: Set<GoStruct>): JsonObject {
  switch (shape.kind) {
    case 'struct':
      refs.add(shape.struct);
      return { $ref: dialect.prefix + shape.struct.name };
    case 'list':
      return { type: 'array', items: element(shape.items, dialect, refs) };
    case 'map':
      return { type: 'object', additionalProperties: element(shape.values, dialect, refs) };
    case 'string':
      return shape.enum ? { type: 'string', enum: [...shape.enum] } : { type: 'string' };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: shape.kind };
    case 'double':
      return { type: 'number', format: 'double' };
    case 'bool':
      return { type: 'boolean' };
    case 'any':
      return {};
  }
}

function element(shape: GoShape, dialect: Dialect, refs: Set<GoStruct>): JsonObject {
  return wrap(referenceOrValue(shape, dialect, refs), implicitDefault(shape, false), {}, dialect, false);
}

function specialDefinition(special: Special, dialect: Dialect): JsonObject {
  const three = dialect.version === 3;
  switch (special) {
    case 'time':
    case 'microtime':
      return { type: 'string', format: 'date-time' };
    case 'duration':
      return { type: 'string' };
    case 'quantity':
      return three ? { oneOf: [{ type: 'string' }, { type: 'number' }] } : { type: 'string' };
    case 'int-or-string':
      return three
        ? { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] }
        : { type: 'string', format: 'int-or-string' };
    case 'fields':
    case 'raw':
      return { type: 'object' };
    default:
      return {};
  }
}
