import type { GoField, GoShape, GoStruct } from '../schema/go.ts';
import { EncodeError } from './errors.ts';
import { encodeSpecial } from './special.ts';
import { wireOf } from './wire.ts';
import type { Writer } from './writer.ts';

const orders = new WeakMap<GoStruct, readonly GoField[]>();

/** Fields from the highest tag to the lowest: the writer goes backwards, and Go writes in order of tags. */
function fieldsOf(struct: GoStruct): readonly GoField[] {
  let order = orders.get(struct);
  if (order === undefined) {
    order = struct.fields.filter((f) => f.tag !== undefined).sort((a, b) => (b.tag ?? 0) - (a.tag ?? 0));
    orders.set(struct, order);
  }
  return order;
}

/** Writes the fields of one message, byte for byte as Kubernetes' Go encoder does. */
export function encodeMessage(writer: Writer, struct: GoStruct, value: unknown): void {
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  for (const field of fieldsOf(struct)) {
    const tag = field.tag ?? 0;
    if (field.inline) {
      encodeValue(writer, tag, field.shape, object, field);
      continue;
    }
    const own = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
    encodeField(writer, tag, field, own ?? undefined);
  }
}

function encodeField(writer: Writer, tag: number, field: GoField, value: unknown): void {
  const { shape } = field;
  if (shape.kind === 'list' && !shape.wrapped) {
    if (value === undefined) return;
    if (!Array.isArray(value)) throw mismatch(field, value);
    for (let i = value.length - 1; i >= 0; i--) encodeValue(writer, tag, shape.items, value[i], field);
  } else if (shape.kind === 'map') {
    if (value !== undefined) encodeMap(writer, tag, shape.values, value, field);
  } else if (value !== undefined || !absentWhenUnset(field)) {
    encodeValue(writer, tag, shape, value, field);
  }
}

/** Pointers, bytes and lists tell unset from empty; other fields are always written. */
function absentWhenUnset(field: GoField): boolean {
  return field.pointer || field.shape.kind === 'bytes' || field.shape.kind === 'list';
}

function encodeMap(writer: Writer, tag: number, values: GoShape, value: unknown, field: GoField): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(field, value);
  const keys = Object.keys(value).sort(byBytes).reverse();
  for (const key of keys) {
    writer.message(tag, () => {
      encodeValue(writer, 2, values, (value as Record<string, unknown>)[key], field);
      writer.string(key);
      writer.key(1, 2);
    });
  }
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function encodeValue(writer: Writer, tag: number, shape: GoShape, value: unknown, field: GoField): void {
  switch (shape.kind) {
    case 'struct': {
      const { struct } = shape;
      const { special } = struct;
      writer.message(tag, () => {
        if (special === undefined) encodeMessage(writer, struct, value);
        else encodeSpecial(writer, special, value, encodeMessage);
      });
      return;
    }
    case 'list': {
      const items = Array.isArray(value) ? value : [];
      writer.message(tag, () => {
        for (let i = items.length - 1; i >= 0; i--) encodeValue(writer, 1, shape.items, items[i], field);
      });
      return;
    }
    case 'any':
    case 'map':
      throw new EncodeError(`the field ${field.name} has no protobuf encoding`);
    default:
      encodeScalar(writer, shape, value ?? undefined, field);
      writer.key(tag, wireOf(shape));
  }
}

function encodeScalar(writer: Writer, shape: GoShape, value: unknown, field: GoField): void {
  if (shape.kind === 'bool') {
    if (value !== undefined && typeof value !== 'boolean') throw mismatch(field, value);
    writer.varint(value === true ? 1 : 0);
  } else if (shape.kind === 'string' || shape.kind === 'bytes') {
    if (value !== undefined && typeof value !== 'string') throw mismatch(field, value);
    if (shape.kind === 'bytes') writer.bytes(Buffer.from(value ?? '', 'base64'));
    else writer.string(value ?? '');
  } else {
    const number = value ?? 0;
    const integer = typeof number === 'bigint' || Number.isInteger(number);
    if (shape.kind === 'double' && typeof number === 'number') writer.double(number);
    else if (integer && shape.kind !== 'double') writer.varint(number as number | bigint);
    else throw mismatch(field, value);
  }
}

function mismatch(field: GoField, value: unknown): EncodeError {
  return new EncodeError(`the field ${field.name} cannot hold a value of type ${typeof value}`);
}
