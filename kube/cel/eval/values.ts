import { RunError } from './budget.ts';

/**
 * Values: null, booleans, bigint (int), number (double), string, Uint8Array (bytes), arrays, Date (timestamp), plain
 * objects and Map (maps), and the classes here and in the libraries.
 */
export type Value = unknown;

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** What a Date has no room for: nanoseconds below its milliseconds, and the zone in which it is told, in minutes. */
export class Timestamp extends Date {
  readonly nanos: number;
  readonly offset: number;

  constructor(millis: number, nanos = 0, offset = 0) {
    super(millis);
    this.nanos = nanos;
    this.offset = offset;
  }
}

export function belowMillis(time: Date): number {
  return time instanceof Timestamp ? time.nanos : 0;
}

function compareTimes(a: Date, b: Date): number {
  return a.getTime() - b.getTime() || belowMillis(a) - belowMillis(b);
}

/** An optional that holds a value, or none. */
export class Optional {
  readonly value: Value;

  constructor(value?: Value) {
    this.value = value;
  }

  get hasValue(): boolean {
    return this.value !== undefined;
  }
}

export const none: Optional = new Optional();

/** What an expression makes of a type with a name: `Object.spec{replicas: 1}`. */
export class Message extends Map<Value, Value> {
  readonly type: string;

  constructor(type: string) {
    super();
    this.type = type;
  }
}

export class TypeName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library that is compared by its text. */
export abstract class Opaque {
  abstract readonly type: string;
  abstract readonly key: string;
}

export const noOverload = (): RunError => new RunError('no such overload');

export function isMap(value: Value): value is Map<Value, Value> | Record<string, Value> {
  if (value instanceof Map) return true;
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Numbers that are equal are one key. */
function keyOf(key: Value): Value {
  if (key instanceof Uint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : key;
}

/** Undefined where there is none. */
export function entryOf(map: Map<Value, Value> | Record<string, Value>, key: Value): Value {
  if (map instanceof Map) return map.get(keyOf(key));
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
}

export function setEntry(map: Map<Value, Value>, key: Value, value: Value): void {
  const own = keyOf(key);
  if (typeof own !== 'string' && typeof own !== 'bigint' && typeof own !== 'boolean')
    throw new RunError('unsupported key type');
  if (map.has(own)) throw new RunError(`Failed with repeated key`);
  map.set(own, value);
}

export function keysOf(map: Map<Value, Value> | Record<string, Value>): Value[] {
  return map instanceof Map ? [...map.keys()] : Object.keys(map);
}

export function mapSize(map: Map<Value, Value> | Record<string, Value>): number {
  return map instanceof Map ? map.size : Object.keys(map).length;
}

export function typeOf(value: Value): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
  }
  if (Array.isArray(value)) return 'list';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Date) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof TypeName) return 'type';
  if (value instanceof Opaque || value instanceof Message) return value.type;
  return 'map';
}

const isNumeric = (value: Value): value is bigint | number | Uint =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;

export const plain = (value: bigint | number | Uint): bigint | number =>
  value instanceof Uint ? value.value : value;

/** Each look costs one of `charge`, and a tenth for each character or byte that is compared. */
export function equal(a: Value, b: Value, charge: (steps: number) => void): boolean {
  charge(1 + shared(a, b) / 10);
  if (a === b) return true;
  // biome-ignore lint/suspicious/noDoubleEquals: an int equals a double of the same value.
  if (isNumeric(a) && isNumeric(b)) return plain(a) == plain(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i], charge));
  if (isMap(a)) return isMap(b) && typeOf(a) === typeOf(b) && equalMaps(a, b, charge);
  if (typeOf(a) !== typeOf(b)) return false;
  if (a instanceof Date) return compareTimes(a, b as Date) === 0;
  if (a instanceof Duration) return a.nanos === (b as Duration).nanos;
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array) === 0;
  if (a instanceof TypeName) return a.name === (b as TypeName).name;
  if (a instanceof Opaque) return a.key === (b as Opaque).key;
  if (!(a instanceof Optional && b instanceof Optional)) return false;
  return a.hasValue === b.hasValue && (!a.hasValue || equal(a.value, b.value, charge));
}

type AnyMap = Map<Value, Value> | Record<string, Value>;

function equalMaps(a: AnyMap, b: AnyMap, charge: (steps: number) => void): boolean {
  const keys = keysOf(a);
  charge(keys.length / 10);
  return (
    keys.length === mapSize(b) &&
    keys.every((key) => {
      const other = entryOf(b, key);
      return other !== undefined && equal(entryOf(a, key), other, charge);
    })
  );
}

/** How much of two texts, or of bytes, is walked through to compare them. */
export function shared(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return Math.min(a.length, b.length);
  return a instanceof Uint8Array && b instanceof Uint8Array ? Math.min(a.length, b.length) : 0;
}

/** By code points, as UTF-8's bytes are ordered: surrogates are after all that is not above them. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === length) return a.length - b.length;
  return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Less than, equal or more than zero; NaN where one is no number. */
export function compare(a: Value, b: Value): number {
  if (isNumeric(a) && isNumeric(b)) {
    const [x, y] = [plain(a), plain(b)];
    return x < y ? -1 : x > y ? 1 : Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : 0;
  }
  if (typeOf(a) !== typeOf(b)) throw noOverload();
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a instanceof Date) return compareTimes(a, b as Date);
  if (a instanceof Duration) {
    const other = (b as Duration).nanos;
    return a.nanos < other ? -1 : a.nanos > other ? 1 : 0;
  }
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array);
  throw noOverload();
}
