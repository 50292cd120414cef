import { decodeJson } from '../../kube/json.ts';
import { metadataStart } from './codec.ts';

type Labels = Readonly<Record<string, string>>;

const none: Labels = Object.freeze({});
/** Beside the stored bytes, for as long as somebody holds them. Filled by the first selector that asks. */
const known = new WeakMap<Uint8Array, Labels>();

/** The labels of a stored object, read from its bytes without parsing the rest. */
export function labelsOf(value: Uint8Array): Labels {
  const there = known.get(value);
  if (there !== undefined) return there;
  const slice = findMember(value, metadataStart(value), labelsKey);
  const labels = slice === undefined ? none : (decodeJson(slice).value as Record<string, string> | null);
  known.set(value, labels ?? none);
  return labels ?? none;
}

const labelsKey = Buffer.from('labels');
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * The bytes of one member of the object whose first member starts at `at`. The JSON is our own: valid, compact.
 */
function findMember(value: Uint8Array, start: number, key: Uint8Array): Uint8Array | undefined {
  let at = start;
  while (value[at] === quote) {
    const keyEnd = endOfString(value, at);
    const end = endOfValue(value, keyEnd + 1);
    if (isKey(value, at + 1, keyEnd - 1, key)) return value.subarray(keyEnd + 1, end);
    if (value[end] !== comma) return undefined;
    at = end + 1;
  }
  return undefined;
}

function isKey(value: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  if (end - start !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (value[start + i] !== key[i]) return false;
  return true;
}

/** The index after the closing quote of the string that starts at `at`. */
function endOfString(value: Uint8Array, at: number): number {
  let end = value.indexOf(quote, at + 1);
  while (end >= 0) {
    let escapes = 0;
    while (value[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end + 1;
    end = value.indexOf(quote, end + 1);
  }
  return value.length;
}

/** The index after the value that starts at `at`. */
function endOfValue(value: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < value.length) {
    const byte = value[at];
    if (byte === quote) {
      at = endOfString(value, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (byte === comma && depth === 0) return at;
    at++;
  }
  return at;
}
