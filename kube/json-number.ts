import { JsonSyntaxError } from './json-error.ts';
import type { Json } from './object.ts';

/** int64 exactly, beyond that a double, as Go's `any` decoding does. */
export function integer(literal: string): Json {
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return value;
  const exact = BigInt(literal);
  // A double that is written back as it was read, e.g. -2^53, is no reason for a bigint.
  if (String(value) === exact.toString()) return value;
  return BigInt.asIntN(64, exact) === exact ? (exact as unknown as Json) : value;
}

/** `end`: where in the text the literal ends. */
export function float(literal: string, end: number): number {
  const value = Number(literal);
  if (Number.isFinite(value)) return value;
  throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`, end);
}
