import type { Json, JsonObject } from '../object.ts';
import { isRecord, setOwn } from '../untyped.ts';
import { fieldsOf } from './fields.ts';
import type { GoShape, GoStruct } from './go.ts';
import { fits, isNumber } from './mismatch.ts';

/**
 * `value` with its integers as the converter of Go's maps to structs has them, which looks at none: too long a one
 * keeps its lowest bits, and one beyond int64, a float64 there, is what amd64 makes of it.
 */
export function wrapped(value: Json, struct: GoStruct): Json {
  if (struct.special !== undefined || !isRecord(value)) return value;
  const fields = fieldsOf(struct);
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value as JsonObject)) {
    const known = fields.get(name);
    setOwn(result, name, known === undefined ? item : wrappedIn(item, known.field.shape));
  }
  return result;
}

function wrappedIn(value: Json, shape: GoShape): Json {
  switch (shape.kind) {
    case 'struct':
      return wrapped(value, shape.struct);
    case 'list':
      return Array.isArray(value) ? value.map((item) => wrappedIn(item, shape.items)) : value;
    case 'map': {
      if (!isRecord(value)) return value;
      const result: JsonObject = {};
      for (const [name, item] of Object.entries(value as JsonObject))
        setOwn(result, name, wrappedIn(item, shape.values));
      return result;
    }
    case 'int32':
    case 'int64':
      return isNumber(value) && !fits(value, shape.kind) ? cut(value, shape.kind) : value;
    default:
      return value;
  }
}

const least = -(2n ** 63n);

function cut(value: number | bigint, kind: 'int32' | 'int64'): Json {
  if (typeof value === 'number' && !Number.isInteger(value)) return value;
  const exact = BigInt(value);
  const whole = BigInt.asIntN(64, exact) === exact ? exact : least;
  if (kind === 'int32') return Number(BigInt.asIntN(32, whole));
  return whole as unknown as Json;
}
