import { quoteGo } from '../../quote.ts';
import { type Budget, RunError } from './budget.ts';
import { textOf } from './conversions.ts';
import { Duration, entryOf, isMap, keysOf, TypeName, typeOf, Uint, type Value } from './values.ts';

const mostDigits = 100;

/** CEL's `format`: %s, %d, %f, %e, %b, %o, %x, %X. https://pkg.go.dev/github.com/google/cel-go/ext#Strings */
export function formatted(budget: Budget, template: string, args: readonly Value[]): string {
  budget.text(template);
  let next = 0;
  return template.replace(/%(?:%|(?:\.(\d+))?([a-zA-Z])|)/g, (all, precision, verb, at: number) => {
    if (all === '%%') return '%';
    if (next >= args.length) throw new RunError(`index ${next} out of range`);
    if (at + 1 === template.length) throw new RunError('unexpected end of string');
    if (verb === undefined) throw unknown(template[at + 1] ?? '');
    const digits = precision === undefined ? 6 : Math.min(Number(precision), mostDigits);
    const text = one(budget, verb as string, args[next++], digits);
    budget.text(text);
    return text;
  });
}

/** What holds others is walked through where each costs a step, and nowhere else. */
function whole(value: Value, only: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  throw unfit(only, value);
}

const words: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity, '-Infinity': -Infinity };

function broken(value: Value, clause: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && Object.hasOwn(words, value)) return words[value] as number;
  throw unfit(`${clause} clause can only be used on doubles`, value);
}

function unfit(only: string, value: Value): RunError {
  return new RunError(`error during formatting: ${only}, was given ${typeOf(value)}`);
}

const fixed = (value: number, precision: number) =>
  Number.isFinite(value) ? rounded(value, precision) : infinite(value);

/** Halves go to the even digit. */
function rounded(value: number, precision: number): string {
  const nearest = value.toFixed(precision);
  // A double that lies just between two has few digits more, and no others.
  const [whole = '', fraction = ''] = value.toFixed(Math.min(100, precision + 60)).split('.');
  if (!/^50*$/.test(fraction.slice(precision))) return nearest;
  const lower = precision === 0 ? whole : `${whole}.${fraction.slice(0, precision)}`;
  return /[02468]$/.test(lower) ? lower : nearest;
}
const infinite = (value: number) => (Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞');

function one(budget: Budget, verb: string, value: Value, precision: number): string {
  switch (verb) {
    case 's':
      return shown(budget, value);
    case 'd':
      return String(whole(value, 'decimal clause can only be used on integers'));
    case 'f':
      return fixed(broken(value, 'fixed-point'), precision);
    case 'e': {
      const number = broken(value, 'scientific');
      if (!Number.isFinite(number)) return infinite(number);
      return number
        .toExponential(precision)
        .replace(/e([+-])(\d+)$/, (_, sign: string, digits: string) => `×10${raised(sign, digits)}`);
    }
    case 'b':
      if (typeof value === 'boolean') return String(Number(value));
      return whole(value, 'only integers and bools can be formatted as binary').toString(2);
    case 'o':
      return whole(value, 'octal clause can only be used on integers').toString(8);
    case 'x':
    case 'X': {
      const isText = typeof value === 'string' || value instanceof Uint8Array;
      if (isText) budget.text(value);
      const only = 'only integers, byte buffers, and strings can be formatted as hex';
      const hex = isText ? Buffer.from(value as string).toString('hex') : whole(value, only).toString(16);
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
    default:
      throw unknown(verb);
  }
}

function unknown(clause: string): RunError {
  return new RunError(`could not parse formatting clause: unrecognized formatting clause "${clause}"`);
}

/** An exponent as the reference implementation writes it: two digits at least. */
function raised(sign: string, digits: string): string {
  const text = [...digits.padStart(2, '0')].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
  return sign === '-' ? `⁻${text}` : text;
}

function shown(budget: Budget, value: Value): string {
  budget.step();
  if (Array.isArray(value)) return `[${value.map((item) => inside(budget, item)).join(', ')}]`;
  if (value === null) return 'null';
  if (typeof value === 'string' || value instanceof Uint8Array) budget.text(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof TypeName) return value.name;
  if (value instanceof Duration || !isMap(value)) {
    const text = textOf(value);
    if (text === undefined) {
      const all = 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';
      throw unfit(`string clause can only be used on ${all}`, value);
    }
    return text;
  }
  const entries = keysOf(value).map((key) => `${inside(budget, key)}:${inside(budget, entryOf(value, key))}`);
  return `{${entries.sort().join(', ')}}`;
}

/** In a list or a map, as it would be written in an expression. */
function inside(budget: Budget, value: Value): string {
  const text = shown(budget, value);
  if (typeof value === 'number' && Number.isFinite(value)) return value.toFixed(6);
  if (typeof value === 'string' || typeof value === 'number')
    return typeof value === 'number' ? `"${text}"` : quoteGo(text);
  if (value instanceof Uint8Array) return `b${quoteGo(text)}`;
  if (value instanceof Date) return `timestamp(${quoteGo(text)})`;
  return value instanceof Duration ? `duration(${quoteGo(text)})` : text;
}
