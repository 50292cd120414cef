import { JsonSyntaxError, unexpectedCharacter } from './json-error.ts';
import type { Json } from './object.ts';

/** No int64 is longer. */
const longest = '-9223372036854775808'.length;

/** int64 exactly, beyond that a double, as Go's `any` decoding does. `end`: where in the text the literal ends. */
function integer(literal: string, end: number): Json {
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return value;
  // What is read exactly takes more than its length, and who sends a million digits need not know them again.
  if (literal.length > longest) return float(literal, end);
  const exact = BigInt(literal);
  // A double that is written back as it was read, e.g. -2^53, is no reason for a bigint.
  if (String(value) === exact.toString()) return value;
  return BigInt.asIntN(64, exact) === exact ? (exact as unknown as Json) : value;
}

/** `end`: where in the text the literal ends. */
function float(literal: string, end: number): number {
  const value = Number(literal);
  if (Number.isFinite(value)) return value;
  throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`, end);
}

const pattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;

/** The number that begins at `at`, and where it ends. */
export function numberAt(text: string, at: number): { value: Json; end: number } {
  const fail = (where: number, context: string): never => {
    throw unexpectedCharacter(text, where, context);
  };
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (!match) {
    return text[at] === '-' ? fail(at + 1, 'in numeric literal') : fail(at, 'looking for beginning of value');
  }
  const [literal, fraction, exponent] = match;
  const end = at + literal.length;
  const next = text[end] ?? '';
  if (next === '.' && fraction === undefined && exponent === undefined) {
    return fail(end + 1, 'after decimal point in numeric literal');
  }
  if (/^[eE]$/.test(next) && exponent === undefined) {
    const signed = /^[-+]$/.test(text[end + 1] ?? '');
    return fail(end + (signed ? 2 : 1), 'in exponent of numeric literal');
  }
  const isInteger = fraction === undefined && exponent === undefined;
  return { value: isInteger ? integer(literal, end) : float(literal, end), end };
}
