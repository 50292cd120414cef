import { encodeJson, toldLength } from '../json.ts';
import type { Json, JsonObject } from '../object.ts';
import { isRecord, setOwn } from '../untyped.ts';

/**
 * Numbers as they are written, by path as in DecodedJson: Go reads what a JSON or merge patch makes as a text, in which
 * `3.0` is no integer and not equal to `3`.
 */
export type Written = ReadonlyMap<string, string>;

/** The second half of a character: no text that is decoded begins with one. */
const mark = '\udc00';

/** A copy in which each number that is `written` is a text of its own, which patches carry about as they do any other. */
export function marked(value: Json, written: Written, path = ''): Json {
  if (path.length > toldLength) return value;
  if (Array.isArray(value)) return value.map((item, i) => marked(item, written, `${path}[${i}]`));
  if (isRecord(value)) {
    const result: JsonObject = {};
    for (const [key, item] of Object.entries(value as JsonObject)) {
      setOwn(result, key, marked(item, written, path === '' ? key : `${path}.${key}`));
    }
    return result;
  }
  const literal = isNumber(value) ? written.get(path) : undefined;
  // Of what is written twice the last counts. What a double is told as Go stores, and finds.
  const isOwn = literal !== undefined && Number(literal) === Number(value) && literal !== String(value);
  return isOwn ? mark + literal : value;
}

function isNumber(value: Json): boolean {
  const type: string = typeof value;
  return type === 'number' || type === 'bigint';
}

/** What a patch made of marked values: numbers again, and how they are written where they are now. */
export function unmarked(value: Json): { value: Json; written: Written } {
  const written = new Map<string, string>();
  return { value: withNumbers(value, '', written), written };
}

function withNumbers(value: Json, path: string, written: Map<string, string>): Json {
  if (Array.isArray(value)) return value.map((item, i) => withNumbers(item, `${path}[${i}]`, written));
  if (isRecord(value)) {
    const result: JsonObject = {};
    for (const [key, item] of Object.entries(value as JsonObject)) {
      setOwn(result, key, withNumbers(item, path === '' ? key : `${path}.${key}`, written));
    }
    return result;
  }
  if (typeof value !== 'string' || !value.startsWith(mark)) return value;
  const literal = value.slice(mark.length);
  if (path.length <= toldLength) written.set(path, literal);
  return Number(literal);
}

const encodedMark = /"\\udc00([^"]*)"/g;

/** As encodeJson, of what is marked: with numbers as they are written. */
export function encodeMarked(value: Json): string {
  return encodeJson(value).replace(encodedMark, '$1');
}
