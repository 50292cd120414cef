import type { Json } from '../object.ts';
import { isRecord } from '../untyped.ts';
import { fieldsOf } from './fields.ts';
import type { GoShape, GoStruct } from './go.ts';
import { base64Error, fits, specialError } from './mismatch.ts';

/** Only JSON schemas contain themselves, and none is nested so deep. */
export const maxDepth = 500;

/** Whether decoding would answer the value itself: a look costs a fraction of a copy, and most values pass it. */
export function isAsItIs(value: Json, struct: GoStruct, depth = 0): boolean {
  if (!isRecord(value) || depth > maxDepth) return false;
  const fields = fieldsOf(struct);
  for (const name of Object.keys(value)) {
    const item = value[name] as Json;
    const known = fields.get(name);
    if (known === undefined) {
      if (!struct.typed || (name !== 'apiVersion' && name !== 'kind') || typeof item !== 'string')
        return false;
    } else if (!fitsShape(item, known.field.shape, depth + 1)) return false;
  }
  return true;
}

function fitsShape(value: Json, shape: GoShape, depth: number): boolean {
  if (value === null) return false;
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string';
    case 'struct': {
      const { special } = shape.struct;
      if (special === undefined) return isAsItIs(value, shape.struct, depth);
      return !special.startsWith('props-') && specialError(special, value) === undefined;
    }
    case 'list':
      return Array.isArray(value) && value.every((item) => fitsShape(item, shape.items, depth + 1));
    case 'map':
      if (!isRecord(value)) return false;
      for (const name of Object.keys(value)) {
        if (!fitsShape(value[name] as Json, shape.values, depth + 1)) return false;
      }
      return true;
    case 'bytes':
      return typeof value === 'string' && base64Error(value) === undefined;
    case 'bool':
      return typeof value === 'boolean';
    case 'double':
      return typeof value === 'number';
    case 'any':
      return true;
    default:
      return (typeof value === 'number' || typeof value === 'bigint') && fits(value, shape.kind);
  }
}
