import type { Json, JsonObject } from './object.ts';
import { isRecord, setOwn } from './untyped.ts';

/** The same with its keys in their order at every depth, as Go writes maps. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isRecord(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort())
    setOwn(result, key, sortedKeys((value as JsonObject)[key] ?? null));
  return result;
}
