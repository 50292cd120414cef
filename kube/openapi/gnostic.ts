import type { Json, JsonObject } from '../object.ts';
import { Writer } from '../protobuf/writer.ts';

/**
 * An OpenAPI 2 document in gnostic's protobuf form, which kubectl before 1.29, Argo CD and the clients' discovery
 * libraries insist on. Field numbers: https://github.com/google/gnostic/blob/main/openapiv2/OpenAPIv2.proto
 */
export function encodeSwagger(document: JsonObject): Uint8Array {
  const writer = new Writer(1 << 20);
  write(writer, 'Document', document);
  return writer.finish();
}

type Encode = (writer: Writer, tag: number, value: Json) => void;
type Message = Readonly<Record<string, readonly [tag: number, encode: Encode]>>;

function write(writer: Writer, kind: string, value: Json): void {
  const object = value as JsonObject;
  const fields = messages[kind] ?? {};
  const extensions = extensionTags[kind];
  for (const name of Object.keys(object).reverse()) {
    const item = object[name];
    if (item === undefined) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field) field[1](writer, field[0], item);
    else if (extensions !== undefined && name.startsWith('x-'))
      named(any)(writer, extensions, { [name]: item });
  }
}

const string: Encode = (writer, tag, value) => {
  writer.string(String(value));
  writer.key(tag, 2);
};
const bool: Encode = (writer, tag, value) => {
  writer.varint(value === true ? 1 : 0);
  writer.key(tag, 0);
};
const integer: Encode = (writer, tag, value) => {
  writer.varint(Math.trunc(Number(value)));
  writer.key(tag, 0);
};
const double: Encode = (writer, tag, value) => {
  writer.double(Number(value));
  writer.key(tag, 1);
};
/** Any{yaml}: JSON is YAML. */
const any: Encode = (writer, tag, value) => {
  writer.message(tag, () => string(writer, 2, `${JSON.stringify(value)}\n`));
};

function message(name: string): Encode {
  return (writer, tag, value) => writer.message(tag, () => write(writer, name, value));
}

function list(encode: Encode): Encode {
  return (writer, tag, value) => {
    const items = Array.isArray(value) ? value : [value];
    for (let i = items.length - 1; i >= 0; i--) encode(writer, tag, items[i] ?? null);
  };
}

/** An object with free keys: repeated {name=1, value=2}. */
function named(encode: Encode): Encode {
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
function inside(inner: number, encode: Encode): Encode {
  return (writer, tag, value) => writer.message(tag, () => encode(writer, inner, value));
}

const schema = message('Schema');
const additional: Encode = (writer, tag, value) =>
  writer.message(tag, () => (typeof value === 'boolean' ? bool(writer, 2, value) : schema(writer, 1, value)));

/** ParametersItem > Parameter > BodyParameter, or > NonBodyParameter > one for queries or one for paths. */
const parameter: Encode = (writer, tag, value) => {
  const where = (value as JsonObject)['in'];
  const other = where === 'path' ? inside(4, message('Path')) : inside(3, message('Query'));
  const leaf = where === 'body' ? inside(1, message('Body')) : inside(2, other);
  inside(1, leaf)(writer, tag, value);
};

const messages: Readonly<Record<string, Message>> = {
  Document: {
    swagger: [1, string],
    info: [2, message('Info')],
    paths: [8, inside(2, named(message('PathItem')))],
    definitions: [9, inside(1, named(schema))],
    security: [12, list(inside(1, named(inside(1, list(string)))))],
    securityDefinitions: [13, inside(1, named(inside(2, message('ApiKey'))))],
  },
  Info: { title: [1, string], version: [2, string] },
  ApiKey: { type: [1, string], name: [2, string], in: [3, string], description: [4, string] },
  PathItem: {
    get: [2, message('Operation')],
    put: [3, message('Operation')],
    post: [4, message('Operation')],
    delete: [5, message('Operation')],
    patch: [8, message('Operation')],
    parameters: [9, list(parameter)],
  },
  Operation: {
    description: [3, string],
    operationId: [5, string],
    produces: [6, list(string)],
    consumes: [7, list(string)],
    parameters: [8, list(parameter)],
    responses: [9, inside(1, named(inside(1, message('Response'))))],
    schemes: [10, list(string)],
  },
  Response: { description: [1, string], schema: [2, inside(1, schema)] },
  Body: { name: [2, string], in: [3, string], required: [4, bool], schema: [5, schema] },
  Path: {
    required: [1, bool],
    in: [2, string],
    name: [4, string],
    type: [5, string],
    uniqueItems: [19, bool],
  },
  Query: { in: [2, string], name: [4, string], type: [6, string], uniqueItems: [20, bool] },
  Schema: {
    $ref: [1, string],
    format: [2, string],
    title: [3, string],
    description: [4, string],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, bool],
    minimum: [9, double],
    exclusiveMinimum: [10, bool],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, string],
    maxItems: [14, integer],
    minItems: [15, integer],
    uniqueItems: [16, bool],
    maxProperties: [17, integer],
    minProperties: [18, integer],
    required: [19, list(string)],
    enum: [20, list(any)],
    additionalProperties: [21, additional],
    type: [22, inside(1, list(string))],
    items: [23, inside(1, schema)],
    allOf: [24, list(schema)],
    properties: [25, inside(1, named(schema))],
  },
};

/** Where a message keeps words that start with x-. */
const extensionTags: Readonly<Record<string, number>> = { Operation: 13, Schema: 31, PathItem: 10 };
