import type { Json, JsonObject } from '../object.ts';
import { badRequest } from '../status.ts';
import { isRecord, setOwn } from '../untyped.ts';
import type { Schema } from './schema.ts';

const maxDepth = 1000;

/**
 * `value` without the fields that `schema` does not know. Values of a wrong type stay: validation reports them.
 * @param path where `value` is: '' for a whole object, whose apiVersion, kind and metadata its schema must name.
 * @throws StatusError 400 for values nested deeper than any schema means.
 */
export function prune(value: Json, schema: Schema, path = ''): { value: Json; unknown: string[] } {
  const unknown: string[] = [];
  return { value: visit(value, schema, path, unknown, 0), unknown };
}

function visit(value: Json, schema: Schema, path: string, unknown: string[], depth: number): Json {
  if (depth > maxDepth) throw badRequest(`${path} is nested too deep`);
  if (schema.type === 'list' && Array.isArray(value)) {
    return value.map((item, index) => visit(item, schema.items, `${path}[${index}]`, unknown, depth + 1));
  }
  if (!isRecord(value) || (schema.type !== 'object' && schema.type !== 'map')) return value;
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value as JsonObject)) {
    const at = path === '' ? name : `${path}.${name}`;
    const known = schema.type === 'map' ? schema.values : schema.fields.get(name)?.schema;
    if (known !== undefined) setOwn(result, name, visit(item, known, at, unknown, depth + 1));
    else if (schema.type === 'object' && schema.open === true) setOwn(result, name, item);
    else unknown.push(`unknown field ${JSON.stringify(at)}`);
  }
  return result;
}
