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
 * An OpenAPI 2 document in gnostic's protobuf form, which kubectl before 1.29, Argo CD and the clients' discovery
 * libraries insist on. Field numbers: https://github.com/google/gnostic/blob/main/openapiv2/OpenAPIv2.proto
 */
export function encodeSwagger(document: JsonObject, capacity?: number): Uint8Array {
  return encodeDocument(proto, document, capacity);
}

const of = (name: string) => message(() => proto, name);

const schema = of('Schema');
const additional: Encode = (writer, tag, value) =>
  writer.message(tag, () => (typeof value === 'boolean' ? bool(writer, 2, value) : schema(writer, 1, value)));

/** Parameter > BodyParameter, or > NonBodyParameter > one for queries or one for paths. */
const parameter: Encode = (writer, tag, value) => {
  const where = (value as JsonObject)['in'];
  const other = where === 'path' ? inside(4, of('Path')) : inside(3, of('Query'));
  const leaf = where === 'body' ? inside(1, of('Body')) : inside(2, other);
  leaf(writer, tag, value);
};

/** ParametersItem > Parameter, or > JsonReference. */
const parametersItem: Encode = (writer, tag, value) => {
  const isReference = Object.hasOwn(value as JsonObject, '$ref');
  inside(isReference ? 2 : 1, isReference ? of('Reference') : parameter)(writer, tag, value);
};

const proto: Proto = {
  extensions: { Operation: 13, Schema: 31, PathItem: 10 },
  messages: {
    Document: {
      swagger: [1, string],
      info: [2, of('Info')],
      paths: [8, inside(2, named(of('PathItem')))],
      definitions: [9, inside(1, named(schema))],
      parameters: [10, inside(1, named(parameter))],
      security: [12, list(inside(1, named(inside(1, list(string)))))],
      securityDefinitions: [13, inside(1, named(inside(2, of('ApiKey'))))],
    },
    Info: { title: [1, string], version: [2, string] },
    ApiKey: { type: [1, string], name: [2, string], in: [3, string], description: [4, string] },
    PathItem: {
      get: [2, of('Operation')],
      put: [3, of('Operation')],
      post: [4, of('Operation')],
      delete: [5, of('Operation')],
      options: [6, of('Operation')],
      head: [7, of('Operation')],
      patch: [8, of('Operation')],
      parameters: [9, list(parametersItem)],
    },
    Operation: {
      tags: [1, list(string)],
      description: [3, string],
      operationId: [5, string],
      produces: [6, list(string)],
      consumes: [7, list(string)],
      parameters: [8, list(parametersItem)],
      responses: [9, inside(1, named(inside(1, of('Response'))))],
      schemes: [10, list(string)],
    },
    Response: { description: [1, string], schema: [2, inside(1, schema)] },
    Reference: { $ref: [1, string] },
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
  },
};
