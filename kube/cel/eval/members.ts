import { RunError } from './budget.ts';
import { entryOf, isMap, none, Optional, typeOf, Uint, type Value } from './values.ts';

/** A member by its name; undefined where there is none, as in null and in text. Of what an optional holds, an optional. */
export function memberOf(value: Value, name: string): Value {
  if (value instanceof Optional) return value.hasValue ? memberOf(value.value, name) : undefined;
  if (Array.isArray(value)) throw noIndex(name);
  if (!isMap(value)) return undefined;
  const found = entryOf(value, name);
  // Names that are words of CEL are written with underscores around them.
  return found === undefined ? entryOf(value, `__${name}__`) : found;
}

export function member(value: Value, name: string): Value {
  if (value instanceof Optional) return optionalOf(memberOf(value, name));
  const found = memberOf(value, name);
  if (found === undefined) throw new RunError(`no such key: ${name}`);
  return found;
}

export function optionalOf(value: Value): Optional {
  return value === undefined ? none : new Optional(value);
}

/** `value[key]` */
export function at(value: Value, key: Value): Value {
  if (value instanceof Optional) return value.hasValue ? optionalAt(value.value, key) : none;
  const found = lookup(value, key);
  if (found !== undefined) return found;
  const shown = key instanceof Uint ? key.value : typeof key === 'object' ? typeOf(key) : key;
  throw new RunError(Array.isArray(value) ? `index out of bounds: ${shown}` : `no such key: ${shown}`);
}

/** `value[?key]` */
export function optionalAt(value: Value, key: Value): Optional {
  if (value instanceof Optional) return value.hasValue ? optionalAt(value.value, key) : none;
  return optionalOf(lookup(value, key));
}

function lookup(value: Value, key: Value): Value {
  if (isMap(value)) return entryOf(value, key);
  if (!Array.isArray(value)) return undefined;
  const index = key instanceof Uint ? key.value : key;
  if (typeof index === 'number' && !Number.isInteger(index))
    throw new RunError(`unsupported index value ${index} in list`);
  if (typeof index !== 'bigint' && typeof index !== 'number') throw noIndex(key);
  return index >= 0 ? value[Number(index)] : undefined;
}

const noIndex = (key: Value) => new RunError(`unsupported index type '${typeOf(key)}' in list`);
