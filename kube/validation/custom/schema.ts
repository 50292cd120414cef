import { correlation } from '../../cel/validate.ts';
import { deepEqual } from '../../deep.ts';
import type { StatusCause } from '../../status.ts';
import { getOwn, isRecord } from '../../untyped.ts';
import { combined } from './combined.ts';
import { numberCauses } from './number.ts';
import { enumCauses, invalid, stringCauses, tooMany, typeCause } from './scalar.ts';

type Rules = Record<string, unknown>;

const maxDepth = 100;

/**
 * The causes for which a value breaks its structural schema: types, required, enum, bounds, lengths, patterns.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
 */
export function validateSchema(
  value: unknown,
  schema: unknown,
  path: string,
  depth = 0,
  old?: unknown,
): StatusCause[] {
  if (!isRecord(schema) || depth > maxDepth) return [];
  // What an update leaves as it was may stay as bad as it was.
  if (old !== undefined && deepEqual(value, old)) return [];
  if (value === null && schema['nullable'] === true) return enumCauses(value, schema, path);
  const wrong = typeCause(value, schema, path);
  const causes = [...(wrong ? [wrong] : []), ...enumCauses(value, schema, path)];
  if (value === null) return causes;
  causes.push(...combined(schema, path, (rules) => validateSchema(value, rules, path, depth + 1)));
  if (typeof value === 'number' || typeof value === 'bigint')
    causes.push(...numberCauses(value, schema, path));
  if (typeof value === 'string') causes.push(...stringCauses(value, schema, path));
  if (Array.isArray(value)) causes.push(...listCauses(value, schema, path, depth, old));
  else if (isRecord(value)) causes.push(...objectCauses(value, schema, path, depth, old));
  return causes;
}

function listCauses(
  value: unknown[],
  schema: Rules,
  path: string,
  depth: number,
  old: unknown,
): StatusCause[] {
  const causes: StatusCause[] = [];
  const { minItems, maxItems, items } = schema;
  if (typeof minItems === 'number' && value.length < minItems) {
    causes.push(
      invalid(path, String(value.length), `${path} in body should have at least ${minItems} items`),
    );
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    causes.push(tooMany(path, value.length, maxItems));
  }
  const before = correlation(Array.isArray(old) ? old : [], schema);
  const below = value.flatMap((item, i) =>
    validateSchema(item, items, `${path}[${i}]`, depth + 1, before(item)),
  );
  return [...causes, ...below];
}

function objectCauses(
  value: Record<string, unknown>,
  schema: Rules,
  path: string,
  depth: number,
  old: unknown,
): StatusCause[] {
  const causes: StatusCause[] = [];
  const before = isRecord(old) ? old : {};
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  for (const name of required) {
    if (getOwn(value, name) !== undefined) continue;
    causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: below(name) });
  }
  const { minProperties, maxProperties } = schema;
  const count = Object.keys(value).length;
  if (typeof minProperties === 'number' && count < minProperties) {
    const words = `${path} in body should have at least ${minProperties} properties`;
    causes.push(invalid(path, String(count), words));
  }
  if (typeof maxProperties === 'number' && count > maxProperties) {
    causes.push(tooMany(path, count, maxProperties));
  }
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  for (const [name, item] of Object.entries(value)) {
    const rules = getOwn(properties, name) ?? schema['additionalProperties'];
    causes.push(...validateSchema(item, rules, below(name), depth + 1, getOwn(before, name)));
  }
  return causes;
}
