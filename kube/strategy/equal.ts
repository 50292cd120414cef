import { isRecord } from '../defaults/json.ts';

/** Deep equality of decoded JSON, blind to the order of keys and to the difference of absent and null. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b || ((a === undefined || a === null) && (b === undefined || b === null))) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const own = (object: Record<string, unknown>, key: string) =>
    Object.hasOwn(object, key) ? object[key] : undefined;
  // Each key once: a key asked for twice at every level would cost two to the power of the depth.
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameJson(own(a, key), own(b, key)));
}
