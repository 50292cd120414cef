import { correlated } from '../../kube/cel/validate.ts';
import { deepEqual, getOwn, isObject, setOwn } from '../../kube/deep.ts';
import { quoteGo } from '../../kube/quote.ts';
import { regex } from '../../kube/regex.ts';
import type { StatusCause } from '../../kube/status.ts';
import { goNumber, hasFormat } from '../../kube/validation/formats.ts';

type Rules = Record<string, unknown>;

const maxDepth = 100;

/** Fills in a structural schema's defaults. Changes `value`. */
export function applySchemaDefaults(value: unknown, schema: unknown, depth = 0): void {
  if (!isObject(schema) || depth > maxDepth) return;
  if (Array.isArray(value)) {
    for (const item of value) applySchemaDefaults(item, schema['items'], depth + 1);
    return;
  }
  if (!isObject(value)) return;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, rules] of Object.entries(properties)) {
    if (!isObject(rules)) continue;
    const there = getOwn(value, name);
    const missing = there === undefined || (there === null && rules['nullable'] !== true);
    if (missing && rules['default'] !== undefined) setOwn(value, name, structuredClone(rules['default']));
    else if (there === null && rules['nullable'] !== true && isTyped(rules)) delete value[name];
    applySchemaDefaults(getOwn(value, name), rules, depth + 1);
  }
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name))
      applySchemaDefaults(item, schema['additionalProperties'], depth + 1);
  }
}

/** A null where the schema has no place for one counts as absent. */
function isTyped(rules: Rules): boolean {
  return rules['x-kubernetes-preserve-unknown-fields'] !== true || typeof rules['type'] === 'string';
}

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
  if (!isObject(schema) || depth > maxDepth) return [];
  // What an update leaves as it was may stay as bad as it was.
  if (old !== undefined && deepEqual(value, old)) return [];
  if (value === null && schema['nullable'] === true) return [];
  const wrong = typeCause(value, schema, path);
  if (wrong) return [wrong, ...enumCauses(value, schema, path)];
  const causes = [...enumCauses(value, schema, path), ...combined(value, schema, path, depth)];
  if (typeof value === 'number' || typeof value === 'bigint')
    causes.push(...numberCauses(value, schema, path));
  if (typeof value === 'string') causes.push(...stringCauses(value, schema, path));
  if (Array.isArray(value)) causes.push(...listCauses(value, schema, path, depth, old));
  else if (isObject(value)) causes.push(...objectCauses(value, schema, path, depth, old));
  return causes;
}

function typeCause(value: unknown, schema: Rules, path: string): StatusCause | undefined {
  const type = schema['type'];
  const actual = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return ['integer', 'string'].includes(actual) ? undefined : wrongType(path, actual, 'integer,string');
  }
  if (typeof type !== 'string' || type === actual || (type === 'number' && actual === 'integer')) {
    return undefined;
  }
  return wrongType(path, actual, type);
}

function wrongType(path: string, shown: string, type: string): StatusCause {
  const value = JSON.stringify(shown);
  const message = `Invalid value: ${value}: ${path} in body must be of type ${type}: ${value}`;
  return { reason: 'FieldValueTypeInvalid', message, field: path };
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function invalid(path: string, shown: string, detail: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${detail}`, field: path };
}

function enumCauses(value: unknown, schema: Rules, path: string): StatusCause[] {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed) || allowed.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return [];
  const list = allowed.map((one) => quoteGo(typeof one === 'string' ? one : JSON.stringify(one))).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return [{ reason: 'FieldValueNotSupported', message, field: path }];
}

function numberCauses(value: number | bigint, schema: Rules, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const bound = (ok: boolean, words: string) => {
    if (!ok) causes.push(invalid(path, String(value), `${path} in body should be ${words}`));
  };
  const { minimum, maximum, multipleOf } = schema;
  if (typeof multipleOf === 'number')
    bound(Number(value) % multipleOf === 0, `a multiple of ${goNumber(multipleOf)}`);
  if (typeof maximum === 'number') {
    if (schema['exclusiveMaximum'] === true) bound(value < maximum, `less than ${goNumber(maximum)}`);
    else bound(value <= maximum, `less than or equal to ${goNumber(maximum)}`);
  }
  if (typeof minimum === 'number') {
    if (schema['exclusiveMinimum'] === true) bound(value > minimum, `greater than ${goNumber(minimum)}`);
    else bound(value >= minimum, `greater than or equal to ${goNumber(minimum)}`);
  }
  return causes;
}

/** What is said first is said alone; a format is another matter. */
function stringCauses(value: string, schema: Rules, path: string): StatusCause[] {
  const { minLength, maxLength, pattern, format } = schema;
  const shown = JSON.stringify(value);
  const length = [...value].length;
  const causes: StatusCause[] = [];
  if (typeof maxLength === 'number' && length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field: path });
  } else if (typeof minLength === 'number' && length < minLength) {
    causes.push(invalid(path, shown, `${path} in body should be at least ${minLength} chars long`));
  } else if (typeof pattern === 'string' && !matches(pattern, value)) {
    causes.push(invalid(path, shown, `${path} in body should match '${pattern}'`));
  }
  if (typeof format === 'string' && !hasFormat(value, format)) causes.push(wrongType(path, value, format));
  return causes;
}

/** An expression that RE2 does not know refuses nothing. */
function matches(pattern: string, value: string): boolean {
  return regex(pattern)?.test(value) ?? true;
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
    const message = `Too many: ${value.length}: must have at most ${maxItems} items`;
    causes.push({ reason: 'FieldValueTooMany', message, field: path });
  }
  const before = Array.isArray(old) ? old : [];
  const below = value.flatMap((item, i) =>
    validateSchema(item, items, `${path}[${i}]`, depth + 1, correlated(item, before, schema)),
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
  const before = isObject(old) ? old : {};
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
    const most = `must have at most ${maxProperties} ${maxProperties === 1 ? 'item' : 'items'}`;
    causes.push({ reason: 'FieldValueTooMany', message: `Too many: ${count}: ${most}`, field: path });
  }
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, item] of Object.entries(value)) {
    const rules = getOwn(properties, name) ?? schema['additionalProperties'];
    causes.push(...validateSchema(item, rules, below(name), depth + 1, getOwn(before, name)));
  }
  return causes;
}

/** allOf, anyOf, oneOf, not: what is wrong as a whole, then what the first of the alternatives asks for. */
function combined(value: unknown, schema: Rules, path: string, depth: number): StatusCause[] {
  const { allOf, anyOf, oneOf, not } = schema;
  const judge = (rules: unknown) => validateSchema(value, rules, path, depth + 1);
  const refuse = (words: string) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: "": ${JSON.stringify(path)} must ${words}`,
    field: '<nil>',
  });
  const causes: StatusCause[] = [];
  if (Array.isArray(anyOf)) {
    const results = anyOf.map(judge);
    if (!results.some((result) => result.length === 0))
      causes.push(refuse('validate at least one schema (anyOf)'), ...(results[0] ?? []));
  }
  if (Array.isArray(oneOf)) {
    const results = oneOf.map(judge);
    const valid = results.filter((result) => result.length === 0).length;
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    if (valid !== 1) causes.push(refuse(`validate one and only one schema (oneOf). ${found}`));
    if (valid === 0) causes.push(...(results[0] ?? []));
  }
  if (Array.isArray(allOf)) {
    const results = allOf.map(judge);
    const valid = results.filter((result) => result.length === 0).length;
    causes.push(...results.flat());
    const none = valid === 0 ? '. None validated' : '';
    if (valid < results.length) causes.push(refuse(`validate all the schemas (allOf)${none}`));
  }
  if (isObject(not) && judge(not).length === 0) causes.push(refuse('not validate the schema (not)'));
  return causes;
}

/** The causes for which lists repeat what must be there once: items of sets, keys of maps. */
export function validateLists(value: unknown, schema: unknown, path = ''): StatusCause[] {
  if (!isObject(schema)) return [];
  if (Array.isArray(value)) {
    const below = value.flatMap((item, i) => validateLists(item, schema['items'], `${path}[${i}]`));
    return [...repeated(value, schema, path), ...below];
  }
  if (!isObject(value)) return [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.keys(value)
    .sort()
    .flatMap((name) => {
      const known = Object.hasOwn(properties, name);
      const at = known ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`;
      return validateLists(value[name], known ? properties[name] : schema['additionalProperties'], at);
    });
}

function repeated(list: readonly unknown[], schema: Rules, path: string): StatusCause[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = Array.isArray(schema['x-kubernetes-list-map-keys'])
    ? schema['x-kubernetes-list-map-keys']
    : [];
  const seen = new Set<string>();
  return list.flatMap((item, i) => {
    const shown = type === 'set' || !isObject(item) ? item : keyOf(item, keys.map(String));
    const identity = JSON.stringify(shown);
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    return [
      { reason: 'FieldValueDuplicate', message: `Duplicate value: ${identity}`, field: `${path}[${i}]` },
    ];
  });
}

function keyOf(item: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries([...keys].sort().map((key) => [key, getOwn(item, key)]));
}
