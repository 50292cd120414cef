import { deepEqual } from '../deep.ts';
import type { JsonObject } from '../object.ts';
import { isRecord, record, setOwn, strings } from '../untyped.ts';
import type { Dialect } from './definition.ts';
import { embeddedHead } from './head.ts';

export const preserve = 'x-kubernetes-preserve-unknown-fields';

/** The schema of a definition as the server of definitions publishes it, but for the head that every object has. */
export function publishedSchema(schema: JsonObject, dialect: Dialect): JsonObject {
  const own = dialect.version === 2 ? toSwagger(schema) : unfold(schema);
  const within = mapSchemas(own, (below) => publishedSchema(below, dialect));
  const isOpen = dialect.version === 2 && own[preserve] === true;
  return own['x-kubernetes-embedded-resource'] === true && !isOpen ? withHead(within, dialect) : within;
}

/** `properties`, `items` and `additionalProperties`, which all that a structural schema holds is below. */
function mapSchemas(schema: JsonObject, change: (below: JsonObject) => JsonObject): JsonObject {
  const mapped: JsonObject = {};
  for (const [word, value] of Object.entries(schema)) {
    if (word === 'properties' && isRecord(value)) {
      const properties: JsonObject = {};
      for (const [name, of] of Object.entries(value)) setOwn(properties, name, change(record(of)));
      mapped[word] = properties;
    } else if ((word === 'items' || word === 'additionalProperties') && isRecord(value)) {
      mapped[word] = change(value);
    } else setOwn(mapped, word, value);
  }
  return mapped;
}

function withHead(schema: JsonObject, dialect: Dialect): JsonObject {
  const required = strings(schema['required']);
  return {
    ...schema,
    properties: { ...record(schema['properties']), ...embeddedHead(dialect) },
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
  };
}

const intOrString = [{ type: 'integer' }, { type: 'string' }];

/** What `x-kubernetes-int-or-string` means is written out, unless the definition has. */
function unfold(schema: JsonObject): JsonObject {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema;
  const { anyOf, allOf } = schema;
  const [first] = Array.isArray(allOf) ? allOf : [];
  if (deepEqual(anyOf, intOrString) || deepEqual(record(first)['anyOf'], intOrString)) return schema;
  if (anyOf === undefined) return { ...schema, anyOf: intOrString };
  return { ...schema, allOf: [{ anyOf: intOrString }, ...(Array.isArray(allOf) ? allOf : [])] };
}

/** OpenAPI 2 does not know them. */
const unknownToSwagger = ['allOf', 'oneOf', 'anyOf', 'not', 'nullable', 'default'];

/** What kubectl would misread is left open: of a value that may be null or hold what is not named, nothing is said. */
function toSwagger(schema: JsonObject): JsonObject {
  const kept = { ...schema };
  for (const word of unknownToSwagger) delete kept[word];
  const isNullable = schema['nullable'] === true;
  const isOpen = schema[preserve] === true;
  if (isNullable || isOpen) for (const word of ['items', 'properties']) delete kept[word];
  const isBareList = kept['type'] === 'array' && kept['items'] === undefined;
  if (isNullable || isBareList || (isOpen && kept['type'] === 'object')) delete kept['type'];
  const required = requiredOf(kept);
  if (required.length === 0) delete kept['required'];
  else kept['required'] = required;
  return kept;
}

/** A field that may be null need not be there. */
function requiredOf({ required, properties, additionalProperties }: JsonObject): string[] {
  if (record(additionalProperties)['nullable'] === true) return [];
  return strings(required).filter((name) => record(record(properties)[name])['nullable'] !== true);
}
