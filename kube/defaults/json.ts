import type { JsonObject } from '../object.ts';

/** Readers for decoded JSON whose shape the schema has checked, and that must not throw where it has not. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** The value at a path of own properties, undefined where the path ends early. */
export function at(value: unknown, ...path: string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** Sets a field that is absent. `key` is never a user's. */
export function fill(object: JsonObject, key: string, value: JsonObject[string]): void {
  if (object[key] === undefined || object[key] === null) object[key] = value;
}

/** Sets a list that is absent or empty. `key` is never a user's. */
export function fillList(object: JsonObject, key: string, value: JsonObject[] | string[]): void {
  const own = object[key];
  if (!Array.isArray(own) || own.length === 0) object[key] = value;
}

/** Sets a map that is absent or empty. `key` is never a user's. */
export function fillMap(object: JsonObject, key: string, value: JsonObject): void {
  if (Object.keys(record(object[key])).length === 0) object[key] = value;
}

/** Sets a field that is absent or zero. `key` is never a user's. */
export function fillZero(object: JsonObject, key: string, value: JsonObject[string]): void {
  if (!object[key]) object[key] = value;
}

/** The object below `key`, made when absent. `key` is never a user's. */
export function child(object: JsonObject, key: string): JsonObject {
  const existing = object[key];
  if (isRecord(existing)) return existing;
  const made: JsonObject = {};
  object[key] = made;
  return made;
}

/** A copy of `base` with the entries of `extra` that it lacks; safe for hostile keys. */
export function withMissing(base: unknown, extra: unknown): JsonObject {
  return { ...record(extra), ...record(base) };
}
