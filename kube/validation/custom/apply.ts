import { getOwn, isRecord, setOwn } from '../../untyped.ts';

type Rules = Record<string, unknown>;

const maxDepth = 100;

/** Fills in a structural schema's defaults, also where a null stands that the schema does not take. Changes `value`. */
export function applySchemaDefaults(value: unknown, schema: unknown, depth = 0): void {
  if (!isRecord(schema) || depth > maxDepth) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const missing = isMisplaced(item, schema['items']) ? defaultOf(schema['items']) : undefined;
      if (missing !== undefined) value[index] = missing;
      applySchemaDefaults(value[index], schema['items'], depth + 1);
    }
    return;
  }
  if (!isRecord(value)) return;
  const properties = propertiesOf(schema);
  for (const [name, rules] of Object.entries(properties)) {
    const there = getOwn(value, name);
    const missing = there === undefined || isMisplaced(there, rules) ? defaultOf(rules) : undefined;
    if (missing !== undefined) setOwn(value, name, missing);
    applySchemaDefaults(getOwn(value, name), rules, depth + 1);
  }
  const others = schema['additionalProperties'];
  if (!isRecord(others)) return;
  for (const [name, item] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) continue;
    const missing = isMisplaced(item, others) ? defaultOf(others) : undefined;
    if (missing !== undefined) setOwn(value, name, missing);
    applySchemaDefaults(getOwn(value, name), others, depth + 1);
  }
}

/**
 * Takes away members that are null where the schema takes none and has no default. Those of lists stay: what is wrong
 * with them is told. Changes `value`.
 */
export function dropNulls(value: unknown, schema: unknown, depth = 0): void {
  if (!isRecord(schema) || depth > maxDepth) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema['items'], depth + 1);
    return;
  }
  if (!isRecord(value)) return;
  const properties = propertiesOf(schema);
  for (const [name, item] of Object.entries(value)) {
    const rules = getOwn(properties, name) ?? schema['additionalProperties'];
    if (isMisplaced(item, rules) && defaultOf(rules) === undefined) delete value[name];
    else dropNulls(item, rules, depth + 1);
  }
}

function propertiesOf(schema: Rules): Rules {
  return isRecord(schema['properties']) ? schema['properties'] : {};
}

function isMisplaced(value: unknown, rules: unknown): boolean {
  return value === null && isRecord(rules) && rules['nullable'] !== true;
}

/** A copy; undefined where there is none. */
function defaultOf(rules: unknown): unknown {
  const given = isRecord(rules) ? rules['default'] : undefined;
  return given === undefined || given === null ? undefined : structuredClone(given);
}
