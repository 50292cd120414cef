import type { JsonObject } from '../object.ts';
import {
  any,
  bool,
  double,
  type Encode,
  encodeDocument,
  inside,
  integer,
  list,
  message,
  named,
  type Proto,
  string,
} from './gnostic-fields.ts';

/**
 * An OpenAPI 3 document in gnostic's protobuf form, which kubectl since 1.27 asks for before it validates. Field
 * numbers: https://github.com/google/gnostic/blob/main/openapiv3/OpenAPIv3.proto
 */
export function encodeOpenApi3(document: JsonObject): Uint8Array {
  return encodeDocument(proto, document);
}

const of = (name: string) => message(() => proto, name);

/** One of a message (1) and a Reference (2). */
function orReference(name: string): Encode {
  return (writer, tag, value) => {
    const refers = typeof (value as JsonObject)['$ref'] === 'string';
    inside(refers ? 2 : 1, of(refers ? 'Reference' : name))(writer, tag, value);
  };
}

const schema = orReference('Schema');

const additional: Encode = (writer, tag, value) =>
  writer.message(tag, () => (typeof value === 'boolean' ? bool(writer, 2, value) : schema(writer, 1, value)));

/** Only what is no object has a form here. */
const defaulted: Encode = (writer, tag, value) => {
  if (typeof value === 'number') inside(1, double)(writer, tag, value);
  else if (typeof value === 'boolean') inside(2, bool)(writer, tag, value);
  else if (typeof value === 'string') inside(3, string)(writer, tag, value);
  else writer.message(tag, () => undefined);
};

const proto: Proto = {
  extensions: { Operation: 13, Schema: 36, PathItem: 14 },
  messages: {
    Document: {
      openapi: [1, string],
      info: [2, of('Info')],
      paths: [4, inside(1, named(of('PathItem')))],
      components: [5, of('Components')],
    },
    Info: { title: [1, string], version: [6, string] },
    Components: {
      schemas: [1, inside(1, named(schema))],
      securitySchemes: [7, inside(1, named(orReference('SecurityScheme')))],
    },
    SecurityScheme: { type: [1, string], description: [2, string], name: [3, string], in: [4, string] },
    PathItem: {
      get: [4, of('Operation')],
      put: [5, of('Operation')],
      post: [6, of('Operation')],
      delete: [7, of('Operation')],
      options: [8, of('Operation')],
      head: [9, of('Operation')],
      patch: [10, of('Operation')],
      parameters: [13, list(orReference('Parameter'))],
    },
    Operation: {
      tags: [1, list(string)],
      description: [3, string],
      operationId: [5, string],
      parameters: [6, list(orReference('Parameter'))],
      requestBody: [7, orReference('RequestBody')],
      responses: [8, inside(2, named(orReference('Response')))],
    },
    Parameter: {
      name: [1, string],
      in: [2, string],
      description: [3, string],
      required: [4, bool],
      schema: [10, schema],
    },
    Reference: { $ref: [1, string] },
    RequestBody: { content: [2, inside(1, named(of('MediaType')))], required: [3, bool] },
    MediaType: { schema: [1, schema] },
    Response: { description: [1, string], content: [3, inside(1, named(of('MediaType')))] },
    Schema: {
      nullable: [1, bool],
      title: [9, string],
      multipleOf: [10, double],
      maximum: [11, double],
      exclusiveMaximum: [12, bool],
      minimum: [13, double],
      exclusiveMinimum: [14, bool],
      maxLength: [15, integer],
      minLength: [16, integer],
      pattern: [17, string],
      maxItems: [18, integer],
      minItems: [19, integer],
      uniqueItems: [20, bool],
      maxProperties: [21, integer],
      minProperties: [22, integer],
      required: [23, list(string)],
      enum: [24, list(any)],
      type: [25, string],
      allOf: [26, list(schema)],
      oneOf: [27, list(schema)],
      anyOf: [28, list(schema)],
      not: [29, of('Schema')],
      items: [30, inside(1, schema)],
      properties: [31, inside(1, named(schema))],
      additionalProperties: [32, additional],
      default: [33, defaulted],
      description: [34, string],
      format: [35, string],
    },
  },
};
