import { formatApiVersion, type GroupVersionKind, parseApiVersion } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import { type GoField, type GoShape, type GoStruct, structOf } from '../schema/go.ts';
import { zeroOf } from '../schema/zero.ts';
import { isProtobuf, readEnvelope } from './envelope.ts';
import { DecodeError, MessageError } from './errors.ts';
import { Reader } from './reader.ts';
import { decodeSpecial, type Nested } from './special.ts';
import { bytes as bytesWire, varint, wireOf } from './wire.ts';

/** Deeper messages than this are refused: only a JSON schema may nest, and none nests so deep. */
const maxDepth = 512;

const nested: Nested = {
  message: decodeMessage,
  object: (data, depth) => (isProtobuf(data) ? decodeObject(data, undefined, depth) : undefined),
};

/** An object in its envelope; `depth` counts the messages around it. */
export function decodeObject(
  data: Uint8Array,
  fallback: GroupVersionKind | undefined,
  depth: number,
): JsonObject {
  const envelope = readEnvelope(data);
  const kind = envelope.kind || (fallback?.kind ?? '');
  const apiVersion = envelope.apiVersion || (fallback ? formatApiVersion(fallback) : '');
  if (kind === '') throw new DecodeError("Object 'Kind' is missing in the protobuf envelope");
  const gv = parseApiVersion(apiVersion);
  const struct = structOf(gv.group, gv.version, kind);
  if (struct === undefined)
    throw new DecodeError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  try {
    const message = decodeMessage(new Reader(envelope.raw), struct, depth + 1);
    return struct.typed ? { kind, apiVersion, ...message } : message;
  } catch (error) {
    throw error instanceof DecodeError ? new MessageError(error.message, error) : error;
  }
}

interface Plan {
  readonly fields: readonly GoField[];
  readonly zeros: readonly (Json | undefined)[];
  /** Position in `fields` by tag. */
  readonly byTag: ReadonlyMap<number, number>;
}

const plans = new WeakMap<GoStruct, Plan>();

function planOf(struct: GoStruct): Plan {
  let plan = plans.get(struct);
  if (plan === undefined) {
    const { fields } = struct;
    const byTag = new Map(fields.flatMap((f, i) => (f.tag === undefined ? [] : [[f.tag, i] as const])));
    plan = { fields, byTag, zeros: fields.map(zeroOf) };
    plans.set(struct, plan);
  }
  return plan;
}

/** The JSON of one message, exactly as Go would encode the struct that it decodes to. */
export function decodeMessage(reader: Reader, struct: GoStruct, depth: number): JsonObject {
  if (depth > maxDepth) throw new DecodeError('proto: exceeded the maximum nesting depth');
  const plan = planOf(struct);
  const values: (Json | undefined)[] = new Array(plan.fields.length);
  while (!reader.done) {
    const key = reader.key();
    const index = plan.byTag.get(Math.floor(key / 8));
    const field = index === undefined ? undefined : plan.fields[index];
    if (index === undefined || field === undefined) reader.skip(key & 7);
    else values[index] = decodeField(reader, key & 7, field, values[index], depth);
  }
  return assemble(plan, values, depth);
}

/** Puts values in the struct's order, leaves out what omitempty leaves out, adds the zeros that Go writes. */
function assemble(plan: Plan, values: (Json | undefined)[], depth: number): JsonObject {
  const result: JsonObject = {};
  for (let i = 0; i < plan.fields.length; i++) {
    const field = plan.fields[i];
    if (field === undefined) continue;
    let value = values[i];
    if (field.inline) {
      if (field.shape.kind !== 'struct') continue;
      value ??= decodeMessage(new Reader(new Uint8Array()), field.shape.struct, depth + 1);
      Object.assign(result, value);
    } else if (value === undefined || (value === null && field.pointer)) {
      const zero = plan.zeros[i];
      if (zero !== undefined) result[field.name] = zero;
    } else if (!(isZero(value) && !field.pointer && (field.omitEmpty || field.omitZero) && hides(field))) {
      result[field.name] = value;
    }
  }
  return result;
}

/** omitempty never hides a struct, omitzero does. */
function hides(field: GoField): boolean {
  return field.shape.kind !== 'struct' || field.omitZero;
}

function isZero(value: Json): boolean {
  return value === '' || value === 0 || value === false || value === null;
}

function decodeField(
  reader: Reader,
  wire: number,
  field: GoField,
  before: Json | undefined,
  depth: number,
): Json {
  const { shape } = field;
  if (shape.kind === 'list' && !shape.wrapped) {
    const list = Array.isArray(before) ? before : [];
    if (wire === bytesWire && wireOf(shape.items) !== bytesWire) {
      const packed = reader.message();
      while (!packed.done) list.push(decodeValue(packed, shape.items, depth));
      return list;
    }
    expectWire(wire, wireOf(shape.items), field);
    list.push(decodeValue(reader, shape.items, depth));
    return list;
  }
  if (shape.kind === 'map') {
    expectWire(wire, bytesWire, field);
    const map = (before ?? {}) as JsonObject;
    decodeEntry(reader.message(), shape.values, map, depth);
    return map;
  }
  expectWire(wire, wireOf(shape), field);
  return decodeValue(reader, shape, depth);
}

function expectWire(wire: number, expected: number, field: GoField): void {
  if (wire !== expected)
    throw new DecodeError(`proto: wrong wireType = ${wire} for field ${goName(field.name)}`);
}

function decodeEntry(reader: Reader, values: GoShape, into: JsonObject, depth: number): void {
  let name = '';
  let value: Json | undefined;
  while (!reader.done) {
    const key = reader.key();
    if (key === 10) name = reader.string();
    else if (Math.floor(key / 8) === 2 && (key & 7) === wireOf(values)) {
      value = decodeValue(reader, values, depth);
    } else reader.skip(key & 7);
  }
  value ??= emptyValue(values, depth);
  Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });
}

function emptyValue(shape: GoShape, depth: number): Json {
  if (wireOf(shape) === varint) return shape.kind === 'bool' ? false : 0;
  return shape.kind === 'double' ? 0 : decodeValue(new Reader(Uint8Array.of(0)), shape, depth);
}

function decodeValue(reader: Reader, shape: GoShape, depth: number): Json {
  switch (shape.kind) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.int64() !== 0;
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.exactInt64() as number;
    case 'double':
      return reader.double();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'struct': {
      const message = reader.message();
      const { special } = shape.struct;
      if (special !== undefined) return decodeSpecial(message, special, depth + 1, nested);
      return decodeMessage(message, shape.struct, depth + 1);
    }
    case 'list':
      return decodeWrapped(reader.message(), shape.items, depth);
    default:
      throw new DecodeError(`proto: a ${shape.kind} has no encoding`);
  }
}

function decodeWrapped(reader: Reader, items: GoShape, depth: number): Json[] {
  const list: Json[] = [];
  while (!reader.done) {
    const key = reader.key();
    if (Math.floor(key / 8) === 1 && (key & 7) === wireOf(items))
      list.push(decodeValue(reader, items, depth));
    else reader.skip(key & 7);
  }
  return list;
}

/** Field names of Go are those of JSON with a capital, but for the metadata that is embedded. */
function goName(name: string): string {
  return name === 'metadata' ? 'ObjectMeta' : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}
