import { encodeJson } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { Writer } from '../protobuf/writer.ts';

/** Writes a value as field `tag` of the message that is being written. */
export type Encode = (writer: Writer, tag: number, value: Json) => void;
export type Message = Readonly<Record<string, readonly [tag: number, encode: Encode]>>;

/** Messages by their names, and where each keeps words that start with `x-`. */
export interface Proto {
  readonly messages: Readonly<Record<string, Message>>;
  readonly extensions: Readonly<Record<string, number>>;
}

/** @param capacity about as many bytes as it will have. */
export function encodeDocument(proto: Proto, document: JsonObject, capacity = 1 << 20): Uint8Array {
  const writer = new Writer(capacity);
  write(proto, writer, 'Document', document);
  return writer.finish();
}

function write({ messages, extensions }: Proto, writer: Writer, kind: string, value: Json): void {
  const object = value as JsonObject;
  const fields = messages[kind] ?? {};
  const extension = extensions[kind];
  for (const name of Object.keys(object).reverse()) {
    const item = object[name];
    if (item === undefined) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field) field[1](writer, field[0], item);
    else if (extension !== undefined && name.startsWith('x-'))
      named(any)(writer, extension, { [name]: item });
  }
}

export const string: Encode = (writer, tag, value) => {
  writer.string(String(value));
  writer.key(tag, 2);
};
export const bool: Encode = (writer, tag, value) => {
  writer.varint(value === true ? 1 : 0);
  writer.key(tag, 0);
};
export const integer: Encode = (writer, tag, value) => {
  writer.varint(Math.trunc(Number(value)));
  writer.key(tag, 0);
};
export const double: Encode = (writer, tag, value) => {
  writer.double(Number(value));
  writer.key(tag, 1);
};
/** Any{yaml}: JSON is YAML. */
export const any: Encode = (writer, tag, value) => {
  writer.message(tag, () => string(writer, 2, `${encodeJson(value)}\n`));
};

/** @param proto called when the first is written: messages refer to each other. */
export function message(proto: () => Proto, name: string): Encode {
  return (writer, tag, value) => writer.message(tag, () => write(proto(), writer, name, value));
}

export function list(encode: Encode): Encode {
  return (writer, tag, value) => {
    const items = Array.isArray(value) ? value : [value];
    for (let i = items.length - 1; i >= 0; i--) encode(writer, tag, items[i] ?? null);
  };
}

/** An object with free keys: repeated {name=1, value=2}. */
export function named(encode: Encode): Encode {
  return (writer, tag, value) => {
    for (const [name, item] of Object.entries(value as JsonObject).reverse()) {
      writer.message(tag, () => {
        encode(writer, 2, item);
        string(writer, 1, name);
      });
    }
  };
}

/** A message with one field. */
export function inside(inner: number, encode: Encode): Encode {
  return (writer, tag, value) => writer.message(tag, () => encode(writer, inner, value));
}
