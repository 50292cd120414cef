import { decodeJson, encodeJson } from '../json.ts';
import type { Json } from '../object.ts';
import { quantityProblem } from '../quantity.ts';
import { type GoStruct, structNamed } from '../schema/go.ts';
import type { Special } from '../schema/table.ts';
import { DecodeError } from './errors.ts';
import type { Reader } from './reader.ts';
import { readDuration, readTime, writeDuration, writeTime } from './time.ts';
import type { Writer } from './writer.ts';

/** Go types whose JSON and protobuf forms are unlike their fields. */

/** What a special type needs of the codec it is part of. */
export interface Nested {
  message(reader: Reader, struct: GoStruct, depth: number): Json;
  /** Undefined when the bytes are no protobuf object. */
  object(data: Uint8Array, depth: number): Json | undefined;
}

type EncodeMessage = (writer: Writer, struct: GoStruct, value: unknown) => void;

const schemaProps = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

export function decodeSpecial(reader: Reader, special: Special, depth: number, nested: Nested): Json {
  switch (special) {
    case 'time':
      return readTime(reader, false);
    case 'microtime':
      return readTime(reader, true);
    case 'duration':
      return readDuration(reader);
    case 'quantity':
      return readQuantity(reader);
    case 'int-or-string':
      return readIntOrString(reader);
    case 'raw':
    case 'json':
    case 'fields':
      return readJson(readFirst(reader), depth, nested);
    default:
      return readProps(reader, special, depth, nested);
  }
}

/** Field 1, which is all that such a message has. */
function readFirst(reader: Reader): Buffer | undefined {
  let found: Buffer | undefined;
  while (!reader.done) {
    const key = reader.key();
    if (key === 10) found = Buffer.from(reader.bytes());
    else reader.skip(key & 7);
  }
  return found;
}

function readQuantity(reader: Reader): string {
  const text = readFirst(reader)?.toString('utf8') ?? '0';
  const problem = text === text.trim() ? quantityProblem(text) : quantityProblem('');
  if (problem !== undefined) throw new DecodeError(problem);
  return text;
}

function readJson(data: Buffer | undefined, depth: number, nested: Nested): Json {
  if (data === undefined || data.length === 0) return null;
  const object = nested.object(data, depth);
  if (object !== undefined) return object;
  try {
    return decodeJson(data).value;
  } catch (error) {
    throw new DecodeError('proto: an embedded object is not valid JSON', error);
  }
}

function readIntOrString(reader: Reader): Json {
  let type = 0;
  let int = 0;
  let string = '';
  while (!reader.done) {
    const key = reader.key();
    if (key === 8) type = reader.int64();
    else if (key === 16) int = reader.int32();
    else if (key === 26) string = reader.string();
    else reader.skip(key & 7);
  }
  return type === 0 ? int : string;
}

/** A JSON schema, or in its place a list of schemas, a boolean or a list of names. */
function readProps(reader: Reader, special: Special, depth: number, nested: Nested): Json {
  const schemaKey = special === 'props-or-bool' ? 18 : 10;
  const struct = structNamed(schemaProps);
  let schema: Json | undefined;
  let allows = false;
  const others: Json[] = [];
  while (!reader.done) {
    const key = reader.key();
    if (key === schemaKey && struct) schema = nested.message(reader.message(), struct, depth);
    else if (key === 8 && special === 'props-or-bool') allows = reader.int64() !== 0;
    else if (key === 18 && special === 'props-or-strings') others.push(reader.string());
    else if (key === 18 && struct) others.push(nested.message(reader.message(), struct, depth));
    else reader.skip(key & 7);
  }
  if (schema !== undefined && (special !== 'props-or-array' || others.length === 0)) return schema;
  if (special === 'props-or-bool') return allows;
  return others.length > 0 ? others : null;
}

export function encodeSpecial(writer: Writer, special: Special, value: unknown, encode: EncodeMessage): void {
  switch (special) {
    case 'time':
      writeTime(writer, value, false);
      break;
    case 'microtime':
      writeTime(writer, value, true);
      break;
    case 'duration':
      writeDuration(writer, value);
      break;
    case 'quantity':
      writer.string(value === undefined || value === null ? '0' : String(value));
      writer.key(1, 2);
      break;
    case 'int-or-string':
      writeIntOrString(writer, value);
      break;
    case 'raw':
    case 'json':
    case 'fields':
      if (value === undefined || value === null) return;
      writer.string(encodeJson(value));
      writer.key(1, 2);
      break;
    default:
      writeProps(writer, special, value, encode);
      break;
  }
}

function writeIntOrString(writer: Writer, value: unknown): void {
  const isString = typeof value === 'string';
  writer.string(isString ? value : '');
  writer.key(3, 2);
  writer.varint(typeof value === 'number' ? Math.trunc(value) : 0);
  writer.key(2, 0);
  writer.varint(isString ? 1 : 0);
  writer.key(1, 0);
}

function writeProps(writer: Writer, special: Special, value: unknown, encode: EncodeMessage): void {
  const struct = structNamed(schemaProps);
  if (struct === undefined || value === null || value === undefined) return;
  const bool = special === 'props-or-bool';
  if (Array.isArray(value)) {
    for (const item of value.toReversed()) {
      if (special === 'props-or-array') writer.message(2, () => encode(writer, struct, item));
      else {
        writer.string(String(item));
        writer.key(2, 2);
      }
    }
  } else if (typeof value === 'object') {
    writer.message(bool ? 2 : 1, () => encode(writer, struct, value));
  }
  if (bool) {
    writer.varint(value === false ? 0 : 1);
    writer.key(1, 0);
  }
}
