import { getOwn, isObject, setOwn } from '../../kube/deep.ts';
import type { StatusCause } from '../../kube/status.ts';

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
    applySchemaDefaults(getOwn(value, name), rules, depth + 1);
  }
  for (const [name, item] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name))
      applySchemaDefaults(item, schema['additionalProperties'], depth + 1);
  }
}

/**
 * The causes for which a value breaks its structural schema: types, required, enum, bounds, lengths, patterns.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
 */
export function validateSchema(value: unknown, schema: unknown, path: string, depth = 0): StatusCause[] {
  if (!isObject(schema) || depth > maxDepth) return [];
  if (value === null && schema['nullable'] === true) return [];
  const wrong = typeCause(value, schema, path);
  if (wrong) return [wrong];
  const causes = [...enumCauses(value, schema, path), ...combined(value, schema, path, depth)];
  if (typeof value === 'number') causes.push(...numberCauses(value, schema, path));
  if (typeof value === 'string') causes.push(...stringCauses(value, schema, path));
  if (Array.isArray(value)) causes.push(...listCauses(value, schema, path, depth));
  else if (isObject(value)) causes.push(...objectCauses(value, schema, path, depth));
  return causes;
}

function typeCause(value: unknown, schema: Rules, path: string): StatusCause | undefined {
  const type = schema['type'];
  const actual = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return ['integer', 'string'].includes(actual)
      ? undefined
      : invalid(path, JSON.stringify(actual), `${path} in body must be of type integer,string: "${actual}"`);
  }
  if (typeof type !== 'string' || type === actual || (type === 'number' && actual === 'integer')) {
    return undefined;
  }
  const message = `Invalid value: "${actual}": ${path} in body must be of type ${type}: "${actual}"`;
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
  const list = allowed.map((one) => JSON.stringify(one)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return [{ reason: 'FieldValueNotSupported', message, field: path }];
}

function numberCauses(value: number, schema: Rules, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const bound = (ok: boolean, words: string) => {
    if (!ok) causes.push(invalid(path, String(value), `${path} in body should be ${words}`));
  };
  const { minimum, maximum, multipleOf } = schema;
  if (typeof minimum === 'number') {
    if (schema['exclusiveMinimum'] === true) bound(value > minimum, `greater than ${minimum}`);
    else bound(value >= minimum, `greater than or equal to ${minimum}`);
  }
  if (typeof maximum === 'number') {
    if (schema['exclusiveMaximum'] === true) bound(value < maximum, `less than ${maximum}`);
    else bound(value <= maximum, `less than or equal to ${maximum}`);
  }
  if (typeof multipleOf === 'number') bound(value % multipleOf === 0, `a multiple of ${multipleOf}`);
  return causes;
}

function stringCauses(value: string, schema: Rules, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const { minLength, maxLength, pattern } = schema;
  const shown = JSON.stringify(value);
  const length = [...value].length;
  if (typeof minLength === 'number' && length < minLength) {
    causes.push(invalid(path, shown, `${path} in body should be at least ${minLength} chars long`));
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    const message = `Too long: may not be more than ${maxLength} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field: path });
  }
  if (typeof pattern === 'string' && !matches(pattern, value)) {
    causes.push(invalid(path, shown, `${path} in body should match '${pattern}'`));
  }
  return causes;
}

const patterns = new Map<string, RegExp | undefined>();
/** JavaScript's expressions can take for ever where Go's cannot: long values and repeated repeats are not tried. */
const patternInputLimit = 4096;
const repeatedRepeat = /[+*}]\)(?:[+*]|\{\d+,)/;

function matches(pattern: string, value: string): boolean {
  if (!patterns.has(pattern)) {
    if (patterns.size > 1000) patterns.clear();
    patterns.set(pattern, compile(pattern));
  }
  const compiled = patterns.get(pattern);
  return compiled === undefined || value.length > patternInputLimit || compiled.test(value);
}

function compile(pattern: string): RegExp | undefined {
  if (repeatedRepeat.test(pattern)) return undefined;
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

function listCauses(value: unknown[], schema: Rules, path: string, depth: number): StatusCause[] {
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
  const below = value.flatMap((item, i) => validateSchema(item, items, `${path}[${i}]`, depth + 1));
  return [...causes, ...below];
}

function objectCauses(
  value: Record<string, unknown>,
  schema: Rules,
  path: string,
  depth: number,
): StatusCause[] {
  const causes: StatusCause[] = [];
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  for (const name of required) {
    if (getOwn(value, name) !== undefined) continue;
    causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: below(name) });
  }
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, item] of Object.entries(value)) {
    const rules = getOwn(properties, name) ?? schema['additionalProperties'];
    causes.push(...validateSchema(item, rules, below(name), depth + 1));
  }
  return causes;
}

/** allOf, anyOf, oneOf, not: judged, without saying which part failed. */
function combined(value: unknown, schema: Rules, path: string, depth: number): StatusCause[] {
  const { allOf, anyOf, oneOf, not } = schema;
  const holds = (rules: unknown) => validateSchema(value, rules, path, depth + 1).length === 0;
  const refuse = (words: string) => [
    invalid(path, JSON.stringify(value) ?? 'null', `${path} in body must ${words}`),
  ];
  if (Array.isArray(allOf) && !allOf.every(holds)) return refuse('validate all the schemas (allOf)');
  if (Array.isArray(anyOf) && !anyOf.some(holds)) return refuse('validate at least one schema (anyOf)');
  if (Array.isArray(oneOf) && oneOf.filter(holds).length !== 1) {
    return refuse('validate one and only one schema (oneOf)');
  }
  return isObject(not) && holds(not) ? refuse('not validate the schema (not)') : [];
}
