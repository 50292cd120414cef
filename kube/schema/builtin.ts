import { readFileSync } from 'node:fs';
import type { GroupVersionKind } from '../gvk.ts';
import { type GoField, type GoShape, type GoStruct, structNamed, structOf } from './go.ts';
import type { ResourceInfo } from './resource.ts';
import type { Field, ObjectSchema, Schema } from './schema.ts';
import type { Special } from './table.ts';
import { zeroOf } from './zero.ts';

/** Every resource that kube-apiserver 1.36 serves by default, preferred versions first within a group. */
export const builtinResources: readonly ResourceInfo[] = JSON.parse(
  readFileSync(new URL('./generated/resources.json', import.meta.url), 'utf8'),
) as ResourceInfo[];

/** The schema of a built-in kind in any published version; undefined for kinds that Kubernetes does not publish. */
export function schemaOf(gvk: GroupVersionKind): ObjectSchema | undefined {
  const struct = structOf(gvk.group, gvk.version, gvk.kind);
  return struct && objectSchema(struct);
}

/** The schema of a published type: `io.k8s.api.core.v1.PodSpec`. */
export function schemaNamed(name: string): ObjectSchema | undefined {
  const struct = structNamed(name);
  return struct && objectSchema(struct);
}

const schemas = new Map<GoStruct, LazyObject>();
const atomicSchemas = new Map<GoStruct, LazyObject>();
const granularSchemas = new Map<GoStruct, LazyObject>();

type Marker = 'atomic' | 'granular' | undefined;

/** A field's marker goes before its type's. */
function objectSchema(struct: GoStruct, marker?: Marker): ObjectSchema {
  const cache = { atomic: atomicSchemas, granular: granularSchemas, none: schemas }[marker ?? 'none'];
  let schema = cache.get(struct);
  if (schema === undefined) {
    schema = new LazyObject(struct, (marker ?? struct.raw.m) === 'atomic');
    cache.set(struct, schema);
  }
  return schema;
}

/** Reads its fields at first use: types refer to each other, and to themselves. */
class LazyObject implements ObjectSchema {
  readonly type = 'object';
  readonly name: string;
  readonly atomic: boolean;
  readonly #struct: GoStruct;
  #fields: ReadonlyMap<string, Field> | undefined;

  constructor(struct: GoStruct, atomic: boolean) {
    this.name = struct.name;
    this.atomic = atomic;
    this.#struct = struct;
  }

  get fields(): ReadonlyMap<string, Field> {
    this.#fields ??= collect(this.#struct, new Map());
    return this.#fields;
  }
}

function collect(struct: GoStruct, into: Map<string, Field>): Map<string, Field> {
  if (struct.typed) {
    // As Go's TypeMeta has them.
    for (const name of ['kind', 'apiVersion']) into.set(name, { name, schema: { type: 'string' } });
  }
  for (const field of struct.fields) {
    if (field.inline && field.shape.kind === 'struct') collect(field.shape.struct, into);
    else into.set(field.name, toField(field));
  }
  return into;
}

function toField(field: GoField): Field {
  const { raw } = field;
  const zero = zeroOf(field);
  return {
    name: field.name,
    schema: toSchema(field.shape, field),
    ...(field.required && { required: true }),
    ...(raw.d !== undefined && { default: raw.d }),
    ...(raw.ps && { patchStrategy: raw.ps }),
    ...(raw.pk !== undefined && { patchMergeKey: raw.pk }),
    ...(field.tag !== undefined && { tag: field.tag }),
    ...(field.pointer && { pointer: true }),
    ...(zero !== undefined && { zero }),
  };
}

const specialSchemas: Readonly<Record<Special, Schema>> = {
  time: { type: 'string', format: 'date-time' },
  microtime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  quantity: { type: 'string', format: 'quantity' },
  'int-or-string': { type: 'int-or-string' },
  fields: { type: 'any', atomic: true },
  json: { type: 'any', atomic: true },
  raw: { type: 'any', atomic: true },
  'props-or-array': { type: 'any', atomic: true },
  'props-or-bool': { type: 'any', atomic: true },
  'props-or-strings': { type: 'any', atomic: true },
};

/** `field` carries the list and map markers of the outermost level. */
function toSchema(shape: GoShape, field?: GoField): Schema {
  const atomic = field?.raw.m === 'atomic';
  switch (shape.kind) {
    case 'struct': {
      const { special } = shape.struct;
      return special === undefined ? objectSchema(shape.struct, field?.raw.m) : specialSchemas[special];
    }
    case 'list': {
      const { lt, lk } = field?.raw ?? {};
      const items = toSchema(shape.items);
      return { type: 'list', items, ...(lt && { listType: lt }), ...(lk && { listMapKeys: lk }) };
    }
    case 'map':
      return { type: 'map', values: toSchema(shape.values), ...(atomic && { atomic }) };
    case 'string':
      return shape.enum ? { type: 'string', enum: shape.enum } : { type: 'string' };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: shape.kind };
    case 'double':
      return { type: 'number' };
    case 'bool':
      return { type: 'boolean' };
    case 'any':
      return { type: 'any' };
  }
}
