import { RunError } from './budget.ts';
import { int, uint } from './operators.ts';
import type { Run } from './run.ts';
import { inTime, readDuration, readTimestamp, showDuration, showTimestamp } from './times.ts';
import { Duration, noOverload, Opaque, TypeName, typeOf, Uint, type Value } from './values.ts';

const seconds = 1_000_000_000n;

function toInt(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return int(value.value);
  if (value instanceof Date) return BigInt(Math.floor(value.getTime() / 1000));
  if (value instanceof Duration) return value.nanos;
  if (typeof value === 'string') return read(value, 'int', /^[-+]?\d{1,100}$/, BigInt.asIntN);
  return int(truncated(value, 'integer overflow'));
}

function truncated(value: Value, overflow: string): bigint {
  if (typeof value !== 'number') throw noOverload();
  if (!Number.isFinite(value)) throw new RunError(overflow);
  return BigInt(Math.trunc(value));
}

/** What has no room is no number either. */
function read(
  text: string,
  type: string,
  form: RegExp,
  wrap: (bits: number, value: bigint) => bigint,
): bigint {
  const value = form.test(text) ? BigInt(text) : undefined;
  if (value === undefined || wrap(64, value) !== value) throw unread(type);
  return value;
}

function unread(type: string): RunError {
  return new RunError(`type conversion error from 'string' to '${type}'`);
}

function toUint(value: Value): Uint {
  if (value instanceof Uint) return value;
  if (typeof value === 'bigint') return uint(value);
  if (typeof value === 'string') return uint(read(value, 'uint', /^\d{1,100}$/, BigInt.asUintN));
  return uint(truncated(value, 'unsigned integer overflow'));
}

function toDouble(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (typeof value !== 'string') throw noOverload();
  const [, sign, word] = /^([-+]?)(inf|infinity|nan)$/i.exec(value) ?? [];
  if (word !== undefined && !/^nan/i.test(word)) return sign === '-' ? -Infinity : Infinity;
  if (word !== undefined && sign === '') return Number.NaN;
  const hexadecimal = hexadecimalDouble(value);
  const number =
    hexadecimal ??
    (decimal.test(value) && !/^_|__|_$|_\D|\D_/.test(value) ? Number(value.replaceAll('_', '')) : Number.NaN);
  // Beyond what a double holds is an error, too.
  if (!Number.isFinite(number)) throw unread('double');
  return number;
}

const decimal = /^[-+]?(?:[\d_]+(?:\.[\d_]*)?|\.[\d_]+)(?:[eE][-+]?[\d_]+)?$/;

const hexadecimal =
  /^([-+]?)0[xX](_?[\da-fA-F](?:_?[\da-fA-F])*)?(?:\.([\da-fA-F](?:_?[\da-fA-F])*)?)?[pP]([-+]?\d(?:_?\d)*)$/;

/** `0x1.8p1`, which is 3; undefined for what is written in another way. */
function hexadecimalDouble(text: string): number | undefined {
  const [, sign, whole = '', fraction = '', exponent] =
    hexadecimal.exec(text.length > longest ? '' : text) ?? [];
  if (exponent === undefined || whole + fraction === '') return undefined;
  const digits = `${whole}${fraction}`.replaceAll('_', '');
  const size = Number(BigInt(`0x${digits}`));
  const power = Number(exponent.replaceAll('_', '')) - 4 * fraction.replaceAll('_', '').length;
  // In two steps: the power alone may be beyond what a double holds.
  const half = Math.trunc(power / 2);
  const value = size === 0 ? 0 : size * 2 ** half * 2 ** (power - half);
  return sign === '-' ? -value : value;
}

const longest = 100;

/** Undefined for what has no text of its own. */
export function textOf(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return doubleText(value);
  }
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Date) return showTimestamp(value);
  if (value instanceof Duration) return showDuration(value);
  if (value instanceof Opaque && value.type.startsWith('net.')) return value.key;
  return undefined;
}

function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  // Go's %g of as many digits as it takes.
  const scientific = value.toExponential();
  const exponent = Number(scientific.slice(scientific.indexOf('e') + 1));
  if (exponent >= -4 && exponent < 6) return String(value);
  return scientific.replace(/e([+-])(\d)$/, 'e$10$2');
}

const trues = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const falses = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** Of text, all that is read. */
function reading(read: (value: Value) => Value): Run {
  return (budget, value) => {
    if (typeof value === 'string') budget.text(value);
    return read(value);
  };
}

export const conversions: Readonly<Record<string, Run>> = {
  int: reading(toInt),
  uint: reading(toUint),
  double: reading(toDouble),
  string: (budget, value) => {
    if (value instanceof Uint8Array) {
      budget.text(value);
      return decoded(value);
    }
    const text = textOf(value);
    if (text === undefined) throw noOverload();
    return text;
  },
  bytes: (budget, value) => {
    if (value instanceof Uint8Array) return value;
    if (typeof value !== 'string') throw noOverload();
    budget.text(value);
    return Uint8Array.from(Buffer.from(value));
  },
  bool: reading((value) => {
    if (typeof value === 'boolean') return value;
    if (typeof value !== 'string') throw noOverload();
    if (trues.includes(value)) return true;
    if (falses.includes(value)) return false;
    throw unread('bool');
  }),
  duration: reading((value) => {
    if (value instanceof Duration) return value;
    if (typeof value === 'bigint') return new Duration(value * seconds);
    const read = typeof value === 'string' ? readDuration(value) : undefined;
    if (typeof value !== 'string') throw noOverload();
    if (!read) throw unread('google.protobuf.Duration');
    return read;
  }),
  timestamp: reading((value) => {
    if (value instanceof Date) return value;
    if (typeof value === 'bigint') return inTime(Number(value) * 1000);
    if (typeof value === 'string') return readTimestamp(value);
    throw noOverload();
  }),
  dyn: (_, value) => value,
  type: (_, value) => new TypeName(typeOf(value)),
};

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RunError('invalid UTF-8 in bytes, cannot convert to string');
  }
}
