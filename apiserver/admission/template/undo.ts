import { deepEqual } from '../../../kube/deep.ts';
import { encodeJson } from '../../../kube/json.ts';
import type { Json, JsonObject } from '../../../kube/object.ts';
import { sortedKeys } from '../../../kube/sorted.ts';
import { getOwn, isRecord } from '../../../kube/untyped.ts';

/**
 * What an answer makes of what was written, where the question said more than that: `written` with what differs between
 * `shown` and `answered`. What was added for the question alone, and left as it was, is in none of it. Undefined: nothing is left.
 */
export function broughtBack(
  written: Json | undefined,
  shown: Json | undefined,
  answered: Json,
): Json | undefined {
  if (shown === undefined) return answered;
  if (deepEqual(shown, answered)) return written;
  if (Array.isArray(shown) && Array.isArray(answered))
    return list(Array.isArray(written) ? written : [], shown, answered);
  if (isRecord(shown) && isRecord(answered))
    return object(isRecord(written) ? written : {}, shown as JsonObject, answered as JsonObject);
  return answered;
}

function object(written: JsonObject, shown: JsonObject, answered: JsonObject): JsonObject {
  const kept = Object.keys(written).filter((key) => !Object.hasOwn(shown, key));
  const keys = new Set([...kept, ...Object.keys(answered)]);
  const all = [...keys].flatMap((key): [string, Json][] => {
    const answer = getOwn(answered, key);
    const [was, value] = [getOwn(written, key), getOwn(shown, key)];
    const back = answer === undefined ? was : broughtBack(was, value, answer);
    return back === undefined ? [] : [[key, back]];
  });
  return Object.fromEntries(all);
}

/** Items are told by their names where all have one; else by what they are, and those that were written come first. */
function list(written: readonly Json[], shown: readonly Json[], answered: readonly Json[]): Json[] {
  const names = [written, shown, answered].map(named);
  const [were, asked] = names;
  const isNamed = names.every((one) => one !== undefined);
  const places = new Map(isNamed ? [] : shown.map((one, at) => [textOf(one), at] as const).reverse());
  return answered.flatMap((item): Json[] => {
    const name = (item as JsonObject | null)?.['name'] as string;
    const at = isNamed ? -1 : (places.get(textOf(item)) ?? -1);
    const back = isNamed ? broughtBack(were?.get(name), asked?.get(name), item) : at < 0 ? item : written[at];
    return back === undefined ? [] : [back];
  });
}

/** What equals it has the same. */
const textOf = (item: Json) => encodeJson(sortedKeys(item));

function named(items: readonly Json[]): Map<string, Json> | undefined {
  const found = new Map<string, Json>();
  for (const item of items) {
    const name = isRecord(item) ? item['name'] : undefined;
    if (typeof name !== 'string' || found.has(name)) return undefined;
    found.set(name, item);
  }
  return found;
}
