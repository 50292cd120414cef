import type { JsonObject } from './object.ts';

/**
 * Readers of decoded JSON that nobody has vouched for: they never throw, and see own properties only. What is not of
 * the type that is asked for reads as empty, or as undefined where the name ends in `At`.
 */

export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Its own property or undefined; never what a prototype carries. */
export function getOwn<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own property even when the key is `__proto__`. */
export function setOwn<T>(object: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

const nothing: JsonObject = Object.freeze(Object.create(null) as JsonObject);

/** The object itself, or an empty frozen one: for reading only. */
export function record(value: unknown): JsonObject {
  return isRecord(value) ? value : nothing;
}

/** The records of a list. */
export function records(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(record) : [];
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function int(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** The value at a path of own properties; undefined where the path ends early. */
export function at(value: unknown, ...path: string[]): unknown {
  let here = value;
  for (const step of path) {
    if (!isRecord(here)) return undefined;
    here = getOwn(here, step);
  }
  return here;
}

export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...path: string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** A finite number. */
export function numberAt(value: unknown, ...path: string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

/** A map of strings; entries that are not strings are left out. */
export function mapAt(value: unknown, ...path: string[]): Record<string, string> | undefined {
  const found = at(value, ...path);
  if (!isRecord(found)) return undefined;
  return Object.fromEntries(
    Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
