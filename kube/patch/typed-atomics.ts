import type { Json } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { asList, asMap, entrySchema, isAtomic, isDeclared, itemSchema } from './typed-schema.ts';

/** Paths of the maps and lists in a value that their schema only ever replaces as a whole. */
export function atomicsIn(value: Json, schema: Schema, path = ''): string[] {
  const map = asMap(value);
  const list = asList(value);
  if (!map && !list) return [];
  const found = isAtomic(schema) || (list && schema.type === 'any') ? [path] : [];
  for (const [key, held] of Object.entries(map ?? {})) {
    const known = isDeclared(schema, key) ? entrySchema(schema, key) : undefined;
    if (known) found.push(...atomicsIn(held, known, `${path}.${key}`));
  }
  for (const [index, held] of (list ?? []).entries())
    found.push(...atomicsIn(held, itemSchema(schema), `${path}[${index}]`));
  return found;
}
