import type { Json, JsonObject } from '../object.ts';
import { isRecord } from '../untyped.ts';

/** Written even when they are zero: pointers, and values of any type. */
const kept = new Set([
  'maximum',
  'minimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'multipleOf',
  'maxProperties',
  'minProperties',
  'additionalProperties',
  'additionalItems',
  'default',
  'example',
  'items',
  'not',
  'externalDocs',
  '$ref',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
]);
/** Deeper schemas are kept as they are. */
const deepest = 100;
const schemas = ['items', 'not', 'additionalProperties', 'additionalItems'];
const lists = ['allOf', 'anyOf', 'oneOf'];
const maps = ['properties', 'patternProperties', 'definitions'];
/** Of a rule, left out when they are empty. */
const texts = ['message', 'messageExpression', 'fieldPath'];

/** A CRD's schema as Kubernetes' own type would write it: zeros that JSON leaves out are gone. Shares its leaves. */
export function normaliseSchema(schema: Json | undefined, depth = 0): Json | undefined {
  if (!isRecord(schema) || depth > deepest) return schema;
  const entries = Object.entries(schema).filter(([name, value]) => kept.has(name) || !isZero(value));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, below(name, value, depth + 1)]),
  ) as JsonObject;
}

function isZero(value: unknown): boolean {
  if (value === null || value === undefined || value === '' || value === false || value === 0) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function below(name: string, value: Json, depth: number): Json {
  if (schemas.includes(name)) return normaliseSchema(value, depth) ?? null;
  if (lists.includes(name) && Array.isArray(value))
    return value.map((one) => normaliseSchema(one, depth) ?? null);
  if (name === 'x-kubernetes-validations' && Array.isArray(value)) return value.map(rule);
  if (!maps.includes(name) || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, normaliseSchema(one, depth) ?? null]),
  );
}

function rule(value: Json): Json {
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name, one]) => one !== '' || !texts.includes(name));
  return Object.fromEntries(entries) as JsonObject;
}
