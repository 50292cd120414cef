import { withoutBlanks } from './trim.ts';

/**
 * Amounts such as `100m`, `1.5Gi`, `1e3`, exact. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 * An amount is `value * 10^scale`; nothing is ever a float.
 */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  readonly value: bigint;
  /** Power of ten, never below -9: finer amounts were rounded away from zero when parsed. */
  readonly scale: number;
  readonly format: QuantityFormat;
  /** What was written, where Kubernetes keeps it as canonical; formatQuantity answers it. */
  readonly text?: string;
}

export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityError';
  }
}

const nano = -9;
/** No amount needs more: what is longer, or larger, would cost whoever reckons with it. */
const longest = 1024;
const largestExponent = 1000;
const maxInt64 = 2n ** 63n - 1n;
const formatMessage =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const suffixOfExponent: ReadonlyMap<number, string> = new Map(
  [...decimalSuffixes].map(([suffix, exponent]) => [exponent, suffix]),
);
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

interface Suffix {
  format: QuantityFormat;
  /** Power of two for BinarySI, else of ten. */
  exponent: number;
}

function parseSuffix(text: string): Suffix {
  const decimal = decimalSuffixes.get(text);
  if (decimal !== undefined) return { format: 'DecimalSI', exponent: decimal };
  const binary = binarySuffixes.indexOf(text);
  if (binary > 0) return { format: 'BinarySI', exponent: 10 * binary };
  const exponent = /^[eE]([-+]?\d+)$/.exec(text)?.[1];
  if (exponent === undefined) throw new QuantityError("unable to parse quantity's suffix");
  if (Number(exponent) > largestExponent) throw new QuantityError("unable to parse quantity's suffix");
  return { format: 'DecimalExponent', exponent: Math.max(-largestExponent, Number(exponent)) };
}

/** Each part begins by what the one before cannot have: else a long one would be divided in every way there is. */
const written = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/;

interface Parts {
  digits: string;
  format: QuantityFormat;
  magnitude: bigint;
  scale: number;
  signed(value: bigint): bigint;
  /** Kubernetes keeps it in an int64; what is longer loses how it was written. */
  isShort: boolean;
}

function partsOf(text: string): Parts {
  if (text === '' || text.length > longest) throw new QuantityError(formatMessage);
  const match = written.exec(text);
  if (!match) throw new QuantityError(formatMessage);
  const [, sign, digitsBefore = '', fraction = '', suffixText = ''] = match;
  const whole = digitsBefore.replace(/^0+/, '');
  const { format, exponent } = parseSuffix(suffixText);
  const digits = `${whole || '0'}${fraction}`;
  const magnitude = BigInt(digits) * (format === 'BinarySI' ? 2n ** BigInt(exponent) : 1n);
  const scale = (format === 'BinarySI' ? 0 : exponent) - fraction.length;
  const signed = (value: bigint) => (sign === '-' ? -value : value);
  const isShort = hasFewDigits(digits, fraction, format, exponent) && scale >= nano && magnitude <= maxInt64;
  return { digits, format, magnitude, scale, signed, isShort };
}

/** Throws QuantityError with Kubernetes' text. Numbers are read as their decimal form. */
export function parseQuantity(input: string | number | bigint): Quantity {
  // JavaScript alone writes a plus there.
  const text = typeof input === 'number' ? String(input).replace('e+', 'e') : String(input);
  if (text === '0') return { value: 0n, scale: 0, format: 'DecimalSI', text };
  const { digits, format, magnitude, scale, signed, isShort } = partsOf(text);
  if (isShort) {
    const kept = isWrittenCanonically(digits, scale, format);
    return { value: signed(magnitude), scale, format, ...(kept && { text }) };
  }
  return bounded(magnitude, scale, format, signed);
}

/** Whether Kubernetes keeps what is written so in an int64. Throws as parseQuantity. */
export function isShortQuantity(text: string): boolean {
  return partsOf(text).isShort;
}

/** Why an API takes no such value as a quantity, with blanks around it or without; undefined where it does. */
export function quantityProblem(value: unknown): string | undefined {
  const isWritten = typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
  try {
    parseQuantity(isWritten ? withoutBlanks(String(value)) : '');
    return undefined;
  } catch (error) {
    if (error instanceof QuantityError) return error.message;
    throw error;
  }
}

function hasFewDigits(digits: string, fraction: string, format: QuantityFormat, exponent: number): boolean {
  if (format !== 'BinarySI') return digits.length <= 18;
  return fraction === '' && 15 - digits.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
}

function isWrittenCanonically(digits: string, scale: number, format: QuantityFormat): boolean {
  if (format === 'BinarySI') return (BigInt(digits) & 7n) !== 0n;
  return scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function bounded(
  magnitude: bigint,
  scale: number,
  format: QuantityFormat,
  signed: (value: bigint) => bigint,
): Quantity {
  let value = magnitude;
  let at = scale;
  if (at < nano) {
    const unit = 10n ** BigInt(nano - at);
    value = (value + unit - 1n) / unit;
    at = nano;
  }
  const one = at < 0 ? 10n ** BigInt(-at) : 1n;
  if (format === 'BinarySI') {
    if (value > maxInt64 * one) return { value: signed(maxInt64), scale: 0, format };
    if (value > 0n && value < one) return { value: signed(value), scale: at, format: 'DecimalSI' };
  }
  return { value: signed(value), scale: at, format };
}

function atScale(q: Quantity, scale: number): bigint {
  if (q.scale === scale) return q.value;
  return q.value * 10n ** BigInt(q.scale - scale);
}

export function compareQuantity(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const scale = Math.min(a.scale, b.scale);
  const x = atScale(a, scale);
  const y = atScale(b, scale);
  return x < y ? -1 : x > y ? 1 : 0;
}

export function addQuantity(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale);
  const format = a.value === 0n ? b.format : a.format;
  return { value: atScale(a, scale) + atScale(b, scale), scale, format };
}

export function negateQuantity(q: Quantity): Quantity {
  return { value: -q.value, scale: q.scale, format: q.format };
}

export function subtractQuantity(a: Quantity, b: Quantity): Quantity {
  return addQuantity(a, negateQuantity(b));
}

export const zeroQuantity: Quantity = { value: 0n, scale: 0, format: 'DecimalSI' };

/** In units of `10^scale`, rounded away from zero: scale 0 for bytes and counts, -3 for milli. */
export function scaledQuantity(q: Quantity, scale = 0): bigint {
  if (q.scale >= scale) return atScale(q, scale);
  const unit = 10n ** BigInt(scale - q.scale);
  const truncated = q.value / unit;
  if (truncated * unit === q.value) return truncated;
  return q.value < 0n ? truncated - 1n : truncated + 1n;
}

/** For scores and charts, where a float will do. */
export function approximateQuantity(q: Quantity): number {
  return Number(q.value) * 10 ** q.scale;
}

/** Canonical: no fraction, the largest suffix that loses nothing. */
export function formatQuantity(q: Quantity): string {
  if (q.text !== undefined) return q.text;
  if (q.value === 0n) return '0';
  if (q.format === 'BinarySI') {
    const whole = scaledQuantity(q);
    const exact = q.scale >= 0 || whole * 10n ** BigInt(-q.scale) === q.value;
    if (exact && (whole >= 1024n || whole <= -1024n)) return formatBinary(whole);
  }
  return formatDecimal(q);
}

function formatBinary(whole: bigint): string {
  let value = whole;
  let power = 0;
  while (value % 1024n === 0n) {
    value /= 1024n;
    power++;
  }
  return `${value}${binarySuffixes[power] ?? ''}`;
}

function formatDecimal(q: Quantity): string {
  let { value, scale } = q;
  while (value % 10n === 0n) {
    value /= 10n;
    scale++;
  }
  while (scale % 3 !== 0) {
    value *= 10n;
    scale--;
  }
  if (q.format === 'DecimalExponent') return `${value}${scale === 0 ? '' : `e${scale}`}`;
  return `${value}${suffixOfExponent.get(scale) ?? ''}`;
}

/** What a Kubernetes API answers when this is written into a quantity field. */
export function canonicalQuantity(input: string | number | bigint): string {
  return formatQuantity(parseQuantity(typeof input === 'string' ? withoutBlanks(input) : input));
}
