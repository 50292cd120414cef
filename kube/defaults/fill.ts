import type { JsonObject } from '../object.ts';
import { isRecord, record } from '../untyped.ts';

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
