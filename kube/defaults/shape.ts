import { type GoField, type GoShape, type GoStruct, kindOf, structNamed, structOf } from '../schema/go.ts';
import { type Special, typeTable } from '../schema/table.ts';

/**
 * How a type is written in JSON. The codes of scalars: s string, i integer, f float, b boolean, q quantity, t time,
 * u microtime, d duration, x int-or-string, y bytes, r anything.
 */
export type TypeShape =
  | { kind: 'scalar'; code: string }
  | { kind: 'pointer' | 'list' | 'map'; element: TypeShape }
  /** `core.v1.PodSpec`: the end of its published name. */
  | { kind: 'struct'; name: string };

export interface FieldShape {
  name: string;
  type: TypeShape;
  /** Written as its zero when nobody gave it. */
  always: boolean;
  /** Not written when it is zero. */
  omits: boolean;
}

const codes: Readonly<Record<Exclude<GoShape['kind'], 'struct' | 'list' | 'map'>, string>> = {
  string: 's',
  int32: 'i',
  int64: 'i',
  double: 'f',
  bool: 'b',
  bytes: 'y',
  any: 'r',
};

const specialCodes: Partial<Readonly<Record<Special, string>>> = {
  quantity: 'q',
  time: 't',
  microtime: 'u',
  duration: 'd',
  'int-or-string': 'x',
};

/** Its fields are nobody's to fill in: a definition's schema is kept as it was given. */
const untouched = 'apiextensions.v1.JSONSchemaProps';

/** What every object has, and no list. */
const metadataName = 'meta.v1.ObjectMeta';

function nameOf(published: string): string {
  return published.split('.').slice(-3).join('.');
}

function typeOf(shape: GoShape): TypeShape {
  switch (shape.kind) {
    case 'list':
      return { kind: 'list', element: typeOf(shape.items) };
    case 'map':
      return { kind: 'map', element: typeOf(shape.values) };
    case 'struct':
      return structType(shape.struct);
    default:
      return { kind: 'scalar', code: codes[shape.kind] };
  }
}

function structType({ special, name: published }: GoStruct): TypeShape {
  if (special !== undefined) return { kind: 'scalar', code: specialCodes[special] ?? 'r' };
  const name = nameOf(published);
  return name === untouched ? { kind: 'scalar', code: 'r' } : { kind: 'struct', name };
}

function toField(field: GoField): FieldShape {
  const { name, omitZero, omitEmpty, pointer } = field;
  const bare = typeOf(field.shape);
  const type: TypeShape = pointer ? { kind: 'pointer', element: bare } : bare;
  const written = isWritten(type);
  return {
    name,
    type,
    always: !omitZero && (!omitEmpty || written),
    omits: (omitZero || omitEmpty) && !pointer && !written,
  };
}

/** Go's `omitempty` does not apply to structs, and these are structs. */
function isWritten(type: TypeShape): boolean {
  return type.kind === 'struct' || (type.kind === 'scalar' && 'xtuqdr'.includes(type.code));
}

function collect(struct: GoStruct, into: FieldShape[]): FieldShape[] {
  if (struct.typed) {
    const type: TypeShape = { kind: 'scalar', code: 's' };
    for (const name of ['kind', 'apiVersion']) into.push({ name, type, always: false, omits: true });
  }
  for (const field of struct.fields) {
    if (field.inline && field.shape.kind === 'struct') collect(field.shape.struct, into);
    else into.push(toField(field));
  }
  return into;
}

let published: ReadonlyMap<string, string> | undefined;
const known = new Map<string, readonly FieldShape[]>();

/** The fields of a type in their order, empty for an unknown one. */
export function fieldsOf(name: string): readonly FieldShape[] {
  let fields = known.get(name);
  if (fields === undefined) {
    published ??= new Map(typeTable().names.map((full) => [nameOf(full), full]));
    const struct = structNamed(published.get(name) ?? '');
    fields = struct === undefined ? [] : collect(struct, []);
    known.set(name, fields);
  }
  return fields;
}

const roots = new Map<GoStruct, TypeShape>();

/** The type of a built-in kind that is kept; undefined for any other. */
export function rootType(group: string, version: string, kind: string): TypeShape | undefined {
  const struct = structOf(group, version, kind);
  if (struct === undefined) return undefined;
  let type = roots.get(struct);
  if (type === undefined) {
    if (!isKept(struct, group, version)) return undefined;
    type = structType(struct);
    roots.set(struct, type);
  }
  return type;
}

/** Of a version that is served by default; a kind that all groups share is of none. */
function isKept(struct: GoStruct, group: string, version: string): boolean {
  const metadata = struct.fields.find(({ name }) => name === 'metadata');
  if (metadata?.shape.kind !== 'struct' || nameOf(metadata.shape.struct.name) !== metadataName) return false;
  return kindOf(struct)?.group === group && /^v[12]$/.test(version);
}
