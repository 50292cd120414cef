import { depthLimit, JsonParser, type OnKey, toldLength } from './json-parser.ts';
import type { Json, JsonObject } from './object.ts';

export { JsonSyntaxError } from './json-error.ts';
export { toldLength };

/**
 * JSON as Kubernetes reads and writes it.
 *
 * Numbers: an integer that fits int64 but not a double becomes a `bigint`; every other number is a `number`. The
 * type Json does not list bigint, so that nobody has to care; but JSON.stringify throws on one: write with
 * encodeJson, copy and compare with kube/deep.ts, and take `typeof value === 'bigint'` as an integer.
 * Text: invalid UTF-8 and lone surrogates become U+FFFD. Depth: at most 10,000, unless told otherwise.
 */
export interface DecodedJson {
  value: Json;
  /** Paths of repeated keys, e.g. `spec.ports[0].name`, in order of appearance; only when asked to be strict. */
  duplicates: string[];
  /** By path as in `duplicates`: how numbers are written of which the value does not tell; only when asked to be strict. */
  literals?: ReadonlyMap<string, string>;
}

/** Calls `onKey` for the keys of a text that is known to be valid, in the text's order. */
export function eachKey(text: string, onKey: OnKey): void {
  new JsonParser(text, true, depthLimit, onKey).parse();
}

/** How the number at a path is written: of parts like `.spec` and `[0]`, which are not joined where they would be too long. */
export function literalAt(
  literals: ReadonlyMap<string, string>,
  path: readonly string[],
): string | undefined {
  if (literals.size === 0) return undefined;
  let length = 0;
  for (const part of path) {
    length += part.length;
    if (length > toldLength + 1) return undefined;
  }
  return literals.get(path.join('').slice(1));
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
/**
 * What JSON.parse would spoil or admit: long integers, infinite exponents, surrogates written as escapes. A number begins
 * the text or follows a mark or a space; digits elsewhere are of a string, and every other uid has some like `1e234`.
 */
const delicate = /(?:^|[:[,\s])-?(?:\d{16}|[\d.]+[eE]\+?\d{3})|\\u[dD][89a-fA-F]/;

interface Reading {
  strict?: boolean;
  /** How many levels are taken: reading needs no more stack for more of them. */
  depth?: number;
}

/** Of what a server wrote: as deep as what it was once given, and what it put around that. */
export const anyDepth = { depth: Number.POSITIVE_INFINITY };

/** Throws JsonSyntaxError with the text a Go server would answer. For repeated keys the last one wins. */
export function decodeJson(bytes: Uint8Array, options?: Reading): DecodedJson {
  return decodeJsonText(utf8.decode(bytes), options);
}

export function decodeJsonText(text: string, options: Reading = {}): DecodedJson {
  const { strict = false, depth = depthLimit } = options;
  // Who looks at every value anyway sees there what numbers have come to.
  const suspicious = strict ? text.includes('\\u') && delicate.test(text) : delicate.test(text);
  if (suspicious || mayBeDeeper(text, depth)) return new JsonParser(text, strict, depth).parse();
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return new JsonParser(text, strict, depth).parse();
  }
  if (strict && countKeysWritten(text) !== countKeys(value)) return new JsonParser(text, true, depth).parse();
  return { value, duplicates: [] };
}

/** How much is read at a time, in characters: a few milliseconds, whatever they say. */
const stepLength = 64 << 10;

/** As decodeJson, of what is so long that others have to have their turn meanwhile. */
export async function decodeJsonInTurns(bytes: Uint8Array, others: () => Promise<void>): Promise<Json> {
  const text = utf8.decode(bytes);
  if (text.length <= stepLength) return decodeJsonText(text).value;
  const read = (whole: string, depth: number) => decodeJsonText(whole, { depth }).value;
  const steps = new JsonParser(text, false).steps(stepLength, read);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value.value;
    await others();
  }
}

function mayBeDeeper(text: string, depth: number): boolean {
  if (text.length <= depth) return false;
  let openers = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x7b || c === 0x5b) openers++;
  }
  return openers > depth;
}

/** Colons outside strings: one a key; NaN where a number is written so that its value does not tell how. The text is known to be valid. */
function countKeysWritten(text: string): number {
  let keys = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x3a) keys++;
    else if (c === 0x22) i = endOfString(text, i);
    else if (c === 0x2e) {
      const end = endOfFraction(text, i);
      if (end === undefined) return Number.NaN;
      i = end - 1;
    } else if ((c | 0x20) === 0x65 && isDigit(text.charCodeAt(i - 1))) return Number.NaN;
  }
  return keys;
}

/** Of a number whose point is at `point`; undefined unless it is written as a double is told, as 0.5 is. */
function endOfFraction(text: string, point: number): number | undefined {
  let start = point;
  while (isDigit(text.charCodeAt(start - 1)) || text[start - 1] === '-') start--;
  let end = point + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  const written = text.slice(start, end);
  return String(Number(written)) === written ? end : undefined;
}

const isDigit = (c: number) => c >= 0x30 && c <= 0x39;

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (;;) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes++;
    if (escapes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
}

/** NaN where a number may have been spoilt. */
function countKeys(value: Json): number {
  if (typeof value !== 'object' || value === null) return isSpoilt(value) ? Number.NaN : 0;
  let count = 0;
  const pending: (Json[] | JsonObject)[] = [value];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const items: Json[] = Array.isArray(at) ? at : Object.values(at);
    if (items !== at) count += items.length;
    for (const item of items) {
      if (typeof item === 'string') continue;
      if (typeof item === 'object') {
        if (item !== null) pending.push(item);
      } else if (isSpoilt(item)) return Number.NaN;
    }
  }
  return count;
}

/** An integer that a double may not hold exactly, or a number beyond all doubles. */
function isSpoilt(value: Json): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Math.trunc(value) === value;
}

/** Compact JSON; bigints are written exactly. Undefined properties are left out, as JSON.stringify does. */
export function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return encodeExactly(value);
    throw error;
  }
}

type Pending = { text: string } | { value: unknown };

/** Without recursion: also for what is too deep for JSON.stringify. */
function encodeExactly(root: unknown): string {
  const out: string[] = [];
  const pending: Pending[] = [{ value: root }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if ('text' in at) out.push(at.text);
    else if (typeof at.value === 'bigint') out.push(at.value.toString());
    else if (typeof at.value !== 'object' || at.value === null) out.push(JSON.stringify(at.value) ?? 'null');
    else pushContainer(at.value, pending);
  }
  return out.join('');
}

function pushContainer(value: object, pending: Pending[]): void {
  const parts: Pending[] = [];
  const array = Array.isArray(value);
  if (array) {
    for (const item of value) parts.push({ text: parts.length === 0 ? '[' : ',' }, { value: item });
  } else {
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      parts.push({ text: `${parts.length === 0 ? '{' : ','}${JSON.stringify(key)}:` }, { value: item });
    }
  }
  if (parts.length === 0) parts.push({ text: array ? '[' : '{' });
  parts.push({ text: array ? ']' : '}' });
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i];
    if (part) pending.push(part);
  }
}
