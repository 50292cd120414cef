import { isRecord } from '../../untyped.ts';
import { escapeName } from '../value.ts';
import type { Declarations } from './environment.ts';
import {
  bool,
  bytes,
  type CelType,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  optionalOf,
  string,
  struct,
  timestamp,
} from './types.ts';

type Rules = Record<string, unknown>;

/** A schema as CEL sees it: its type, how many characters, items or entries it has at most, and its least size in JSON. */
export interface SchemaType {
  type: CelType;
  most: number;
  leastBytes: number;
  items?: SchemaType;
  values?: SchemaType;
  /** Of a map; strings of any length when absent. */
  keys?: SchemaType;
  fields?: ReadonlyMap<string, SchemaType>;
}

export const largestRequest = 3 * 1024 * 1024;

const simple = (type: CelType, leastBytes: number, most = 0): SchemaType => ({ type, most, leastBytes });

const text = simple(string, 2);
const plainText = { type: 'string' };
const metadata = { type: 'object', properties: { name: plainText, generateName: plainText } };

/**
 * The type of a structural schema, undefined where expressions are not shown its values. `name` is that of the message
 * type where it is an object. https://kubernetes.io/docs/reference/using-api/cel/#type-checking
 */
export function schemaType(schema: unknown, isResource: boolean, name: string): SchemaType | undefined {
  if (!isRecord(schema)) return undefined;
  if (schema['x-kubernetes-int-or-string'] === true)
    return simple(dyn, 1, textLimit(schema, largestRequest - 2));
  switch (schema['type']) {
    case 'array':
      return listType(schema, name);
    case 'object':
      return isRecord(schema['additionalProperties'])
        ? mapType(schema, schema['additionalProperties'], name)
        : objectType(schema, isResource, name);
    case 'string':
      return textType(schema);
    case 'boolean':
      return simple(bool, 4);
    case 'number':
      return simple(double, 1);
    case 'integer':
      return simple(int, 1);
    default:
      return undefined;
  }
}

const isEmbedded = (schema: unknown) => isRecord(schema) && schema['x-kubernetes-embedded-resource'] === true;

function limit(schema: Rules, name: string): number | undefined {
  const value = schema[name];
  return typeof value === 'number' || typeof value === 'bigint' ? Math.max(Number(value), 0) : undefined;
}

/** Characters take four bytes at most. */
function textLimit(schema: Rules, otherwise: number): number {
  const length = limit(schema, 'maxLength');
  return length === undefined ? otherwise : length * 4;
}

function listType(schema: Rules, name: string): SchemaType | undefined {
  const items = schemaType(schema['items'], isEmbedded(schema['items']), `${name}.@idx`);
  if (!items) return undefined;
  const most = limit(schema, 'maxItems') ?? Math.floor((largestRequest - 2) / (items.leastBytes + 1));
  return { type: listOf(items.type), most, leastBytes: 2, items };
}

function mapType(schema: Rules, more: Rules, name: string): SchemaType | undefined {
  const values = schemaType(more, isEmbedded(more), `${name}.@elem`);
  if (!values) return undefined;
  const most = limit(schema, 'maxProperties') ?? Math.floor((largestRequest - 2) / (values.leastBytes + 6));
  return { type: mapOf(string, values.type), most, leastBytes: 2, values };
}

function objectType(schema: Rules, isResource: boolean, name: string): SchemaType {
  const given = isRecord(schema['properties']) ? schema['properties'] : {};
  const properties = isResource ? { ...given, kind: plainText, apiVersion: plainText, metadata } : given;
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = new Map<string, SchemaType>();
  let leastBytes = 2;
  for (const [key, property] of Object.entries(properties)) {
    const escaped = escapeName(key);
    const field = schemaType(property, isEmbedded(property), `${name}.${escaped}`);
    if (!field) continue;
    if (/^[A-Za-z_]\w*$/.test(escaped)) fields.set(escaped, field);
    const hasDefault =
      isRecord(property) && property['default'] !== undefined && property['default'] !== null;
    if (required.has(key) && !hasDefault) leastBytes += Buffer.byteLength(key) + field.leastBytes + 4;
  }
  return { type: struct(name), most: 0, leastBytes, fields };
}

function textType(schema: Rules): SchemaType {
  switch (schema['format']) {
    case 'byte':
      return simple(bytes, 2, limit(schema, 'maxLength') ?? largestRequest - 2);
    case 'duration':
      return simple(duration, 3, 32);
    case 'date':
      return simple(timestamp, 12, 12);
    case 'date-time':
      return simple(timestamp, 21, 32);
    default: {
      const values = Array.isArray(schema['enum']) ? schema['enum'] : [];
      const length = (value: unknown) => (typeof value === 'string' ? Buffer.byteLength(value) : 0);
      const most = values.reduce((found: number, value) => Math.max(found, length(value)), 0);
      const longest = values.length > 0 ? most : largestRequest - 2;
      return { ...text, most: textLimit(schema, longest) };
    }
  }
}

/** The messages of a schema's type and of those below it, by their names. */
export type Messages = ReadonlyMap<string, SchemaType>;

export function messagesOf(type: SchemaType): Messages {
  const messages = new Map<string, SchemaType>();
  gather(type, messages);
  return messages;
}

/** What rules of a schema can name: `self`, and `oldSelf`, which may be an optional. */
export function ruleDeclarations(
  self: SchemaType,
  optionalOldSelf: boolean,
  messages: Messages = messagesOf(self),
): Declarations {
  const oldSelf = optionalOldSelf ? optionalOf(self.type) : self.type;
  return {
    variables: new Map([
      ['self', self.type],
      ['oldSelf', oldSelf],
    ]),
    fields: (message) => {
      const fields = messages.get(message)?.fields;
      return fields && ((name) => (fields.get(name) ?? fields.get(`__${name}__`))?.type);
    },
  };
}

function gather(at: SchemaType, into: Map<string, SchemaType>): void {
  if (at.fields) into.set(at.type.name, at);
  for (const below of [at.items, at.values, ...(at.fields?.values() ?? [])]) if (below) gather(below, into);
}

/** How large what is at a path of `self` can be. */
export function sizeIn(
  self: SchemaType,
): (path: readonly string[]) => { min: number; max: number } | undefined {
  return (path) => {
    let at: SchemaType | undefined = self;
    for (const step of path.slice(1)) {
      if (step === '@items' || step === '@values') at = at?.items ?? at?.values;
      else if (step === '@keys') at = at?.keys ?? (at?.values && text);
      // Values of any type, whatever their names.
      else if (at?.values?.type.name === 'any') at = at.values;
      else at = at?.fields?.get(step);
    }
    return at && { min: 0, max: at.most };
  };
}
