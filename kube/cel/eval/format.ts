import { quoteGo } from '../../quote.ts';
import { type Budget, RunError } from './budget.ts';
import { textOf } from './conversions.ts';
import { Duration, entryOf, isMap, keysOf, TypeName, Uint, type Value } from './values.ts';

const mostDigits = 100;

/** CEL's `format`: %s, %d, %f, %e, %b, %o, %x, %X. https://pkg.go.dev/github.com/google/cel-go/ext#Strings */
export function formatted(budget: Budget, template: string, args: readonly Value[]): string {
  budget.text(template);
  let next = 0;
  return template.replace(/%(%|(?:\.(\d+))?([a-zA-Z]))/g, (all, _rest, precision, verb) => {
    if (all === '%%') return '%';
    if (next >= args.length) throw new RunError(`index ${next} out of range`);
    const digits = precision === undefined ? 6 : Math.min(Number(precision), mostDigits);
    const text = one(budget, verb as string, args[next++], digits);
    budget.text(text);
    return text;
  });
}

/** What holds others is walked through where each costs a step, and nowhere else. */
function single(value: Value): Value {
  if (value instanceof Uint) return value.value;
  if (typeof value !== 'object' || value === null) return value;
  throw new RunError('error during formatting: only a number can be formatted by that clause');
}

const whole = (value: Value): bigint => BigInt(single(value) as bigint);

function one(budget: Budget, verb: string, value: Value, precision: number): string {
  switch (verb) {
    case 's':
      return shown(budget, value);
    case 'd':
      return String(single(value));
    case 'f':
      return Number(single(value)).toFixed(precision);
    case 'e':
      return Number(single(value))
        .toExponential(precision)
        .replace(/e([+-])(\d+)$/, (_, sign: string, digits: string) => `×10${raised(sign, digits)}`);
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : whole(value).toString(2);
    case 'o':
      return whole(value).toString(8);
    case 'x':
    case 'X': {
      const isText = typeof value === 'string' || value instanceof Uint8Array;
      if (isText) budget.text(value);
      const hex = isText ? Buffer.from(value as string).toString('hex') : whole(value).toString(16);
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
    default:
      throw new RunError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
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
    if (text === undefined)
      throw new RunError(
        'error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
      );
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
