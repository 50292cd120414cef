import type { JsonObject } from '../../object.ts';
import { isRecord, record, records } from '../../untyped.ts';
import { escapeName } from '../value.ts';
import type { Fields } from './environment.ts';
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
  string,
  struct,
  timestamp,
} from './types.ts';

/** The schema that a `$ref` leads to. */
export type Resolve = (ref: string) => JsonObject | undefined;

/** A schema with the references that led to it: one that leads to itself is not followed again. */
interface Place {
  schema: JsonObject;
  refs: ReadonlySet<string>;
}

const circular: JsonObject = { type: 'object' };
const plainText = { type: 'string' };
const metadata = { type: 'object', properties: { name: plainText, generateName: plainText } };

/**
 * The types of a kind as its published OpenAPI 3 schema gives them. The schemas of kinds are large and expressions name
 * little of them: what is below a field is looked at when something names the field.
 */
export class KindType {
  /** Of the whole object. */
  readonly type: CelType;
  readonly #resolve: Resolve;
  /** By the names of messages. */
  readonly #places = new Map<string, Place>();
  readonly #fields = new Map<string, Fields>();

  /** @param root the reference of the kind's own schema; `name` is that of its message */
  constructor(root: string, resolve: Resolve, name: string) {
    this.#resolve = resolve;
    const place = { schema: resolve(root) ?? circular, refs: new Set([root]) };
    this.type = this.#typeOf(this.#asResource(place), name) ?? dyn;
  }

  /** Of a message that a type names. */
  fields(message: string): Fields | undefined {
    const place = this.#places.get(message);
    if (!place) return undefined;
    const known = this.#fields.get(message) ?? this.#read(place, message);
    this.#fields.set(message, known);
    return known;
  }

  #read({ schema, refs }: Place, message: string): Fields {
    const types = new Map<string, CelType>();
    for (const [key, property] of Object.entries(record(schema['properties']))) {
      const name = escapeName(key);
      const type = this.#at(record(property), refs, `${message}.${name}`);
      if (type && /^[A-Za-z_]\w*$/.test(name)) types.set(name, type);
    }
    return (name) => types.get(name) ?? types.get(`__${name}__`);
  }

  #at(schema: JsonObject, refs: ReadonlySet<string>, name: string): CelType | undefined {
    const place = this.#follow(schema, refs);
    const isResource = place.schema['x-kubernetes-embedded-resource'] === true;
    return this.#typeOf(isResource ? this.#asResource(place) : place, name);
  }

  /** Whatever its schema says, an object has a kind and a name. */
  #asResource(place: Place): Place {
    const { schema, refs } = place;
    const properties = record(schema['properties']);
    const own = this.#follow(record(properties['metadata']), refs).schema;
    const names = record(own['properties']);
    const texts = [properties['kind'], properties['apiVersion'], names['name'], names['generateName']];
    if (own['type'] === 'object' && texts.every((one) => record(one)['type'] === 'string')) return place;
    const head = { kind: plainText, apiVersion: plainText, metadata };
    return { schema: { ...schema, properties: { ...properties, ...head } }, refs };
  }

  #follow(schema: JsonObject, refs: ReadonlySet<string>): Place {
    const ref = refOf(schema);
    if (ref === undefined) return { schema, refs };
    const found = refs.has(ref) ? undefined : this.#resolve(ref);
    return found ? { schema: found, refs: new Set([...refs, ref]) } : { schema: circular, refs };
  }

  /** Undefined where expressions are not shown the value. */
  #typeOf({ schema, refs }: Place, name: string): CelType | undefined {
    const { type, format, items, additionalProperties } = schema;
    if (format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true) return dyn;
    if (type === 'array') {
      const item = isRecord(items) ? this.#at(items, refs, `${name}.@idx`) : undefined;
      return item && listOf(item);
    }
    if (type === 'object' && isRecord(additionalProperties)) {
      const value = this.#at(additionalProperties, refs, `${name}.@elem`);
      return value && mapOf(string, value);
    }
    if (type !== 'object') return scalarOf(type, format);
    this.#places.set(name, { schema, refs });
    return struct(name);
  }
}

function scalarOf(type: unknown, format: unknown): CelType | undefined {
  if (type === 'boolean') return bool;
  if (type === 'number') return double;
  if (type === 'integer') return int;
  if (type !== 'string') return undefined;
  if (format === 'byte') return bytes;
  if (format === 'duration') return duration;
  return format === 'date' || format === 'date-time' ? timestamp : string;
}

/** To be described, a reference is wrapped. */
function refOf({ $ref, allOf }: JsonObject): string | undefined {
  if (typeof $ref === 'string') return $ref;
  for (const one of records(allOf)) {
    const ref = refOf(one);
    if (ref !== undefined) return ref;
  }
  return undefined;
}
