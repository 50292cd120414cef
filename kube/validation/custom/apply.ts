import { getOwn, isObject, setOwn } from '../../deep.ts';

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
