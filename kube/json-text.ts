import type { Json, JsonObject } from './object.ts';
import { getOwn, isRecord, setOwn } from './untyped.ts';

/** What Go decodes twice into one struct or map has the members of both. Costs what is new, however often. */
export function joined(into: JsonObject, key: string, value: Json): Json {
  const before = getOwn(into, key) as Json | undefined;
  if (!isRecord(before) || !isRecord(value)) return value;
  const all = before as JsonObject;
  for (const [name, member] of Object.entries(value as JsonObject))
    setOwn(all, name, joined(all, name, member));
  return all;
}

export function isHex(c: number): boolean {
  return (c >= 0x30 && c <= 0x39) || ((c | 0x20) >= 0x61 && (c | 0x20) <= 0x66);
}

/** Where the container that begins at `start` ends, in a text that may be nonsense; undefined where none does before `limit`. */
export function endOfContainer(text: string, start: number, limit: number): number | undefined {
  let depth = 0;
  let inString = false;
  const end = Math.min(limit, text.length);
  for (let at = start; at < end; at++) {
    const c = text.charCodeAt(at);
    if (inString) {
      if (c === 0x5c) at++;
      else if (c === 0x22) inString = false;
    } else if (c === 0x22) inString = true;
    else if (c === 0x7b || c === 0x5b) depth++;
    else if ((c === 0x7d || c === 0x5d) && --depth === 0) return at + 1;
    if (depth === 0) return undefined;
  }
  return undefined;
}
