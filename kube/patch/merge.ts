import { jsonType } from '../go-words.ts';
import type { Json, JsonObject } from '../object.ts';
import { badRequest } from '../status.ts';
import { isRecord, setOwn } from '../untyped.ts';

/**
 * RFC 7386 as kube-apiserver reads it: besides the RFC, nulls inside objects of a replaced array are dropped.
 * Neither argument is changed; the result shares unchanged parts with both. Throws StatusError 400.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isRecord(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonType(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(isRecord(target) ? (target as JsonObject) : {}, patch as JsonObject);
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete result[key];
      continue;
    }
    const current = Object.hasOwn(target, key) ? target[key] : undefined;
    setOwn(result, key, mergeValue(current, value));
  }
  return result;
}

function mergeValue(current: Json | undefined, patch: Json): Json {
  if (!isRecord(current)) return withoutNulls(patch);
  return isRecord(patch) ? mergeObjects(current as JsonObject, patch as JsonObject) : patch;
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value as JsonObject)) {
    if (item !== null) setOwn(result, key, withoutNulls(item));
  }
  return result;
}
