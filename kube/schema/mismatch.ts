import { quantityProblem } from '../quantity.ts';
import type { GoShape } from './go.ts';
import type { Special } from './table.ts';

/** The words of Go's JSON decoder for values of the wrong type. */

/** How Go prints a type: `v1.PodSpec`, `[]string`, `map[string]string`. */
export function typeName(shape: GoShape): string {
  if (shape.alias !== undefined) return shape.alias;
  switch (shape.kind) {
    case 'struct':
      return shape.struct.name.split('.').slice(-2).join('.');
    case 'list':
      return `[]${typeName(shape.items)}`;
    case 'map':
      return `map[${shape.keys ?? 'string'}]${typeName(shape.values)}`;
    case 'double':
      return 'float64';
    case 'bytes':
      return '[]uint8';
    case 'any':
      return 'interface {}';
    default:
      return shape.kind;
  }
}

/** Whether a number fits the Go integer type. -2^63 itself is a bigint: the double was written as something less. */
export function fits(value: number | bigint, kind: 'int32' | 'int64'): boolean {
  if (typeof value === 'bigint') return kind === 'int64' && BigInt.asIntN(64, value) === value;
  return (
    Number.isInteger(value) &&
    (kind === 'int64' ? value > -(2 ** 63) && value < 2 ** 63 : (value | 0) === value)
  );
}

export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** As Go writes a double again; what YAML has beyond int64 is a uint64 there. */
export function digits(value: number | bigint): string {
  const unsigned = typeof value === 'number' && value >= 2 ** 63 && value < 2 ** 64;
  return unsigned ? BigInt(value).toString() : String(value);
}

/** Where base64 stops being base64, as Go counts; undefined when all of it is. */
export function base64Error(text: string): string | undefined {
  const clean = text.replace(/[\r\n]/g, '');
  const body = /^[A-Za-z0-9+/]*/.exec(clean)?.[0].length ?? 0;
  const padding = clean.length - body;
  const rest = body % 4;
  const right = rest === 0 ? padding === 0 : rest > 1 && clean.slice(body) === '='.repeat(4 - rest);
  if (right) return undefined;
  return `illegal base64 data at input byte ${padding === 0 ? clean.length - rest : body}`;
}

/** What a special type's own decoder says of a value; undefined when it takes it. `type` is a JSON type it wants. */
export function specialError(special: Special, value: unknown): { type: string } | string | undefined {
  const string = typeof value === 'string';
  switch (special) {
    case 'time':
    case 'microtime':
      return string ? timeError(value, special === 'microtime') : { type: 'string' };
    case 'duration':
      if (!string) return { type: 'string' };
      return duration.test(value) ? undefined : `time: invalid duration ${JSON.stringify(value)}`;
    case 'quantity':
      return quantityProblem(value);
    case 'int-or-string': {
      return string || (isNumber(value) && fits(value, 'int32')) ? undefined : { type: 'int32' };
    }
    default:
      return undefined;
  }
}

const duration = /^[-+]?(0|(?:(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;

const elements: readonly [string, RegExp][] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d?/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
];
const seconds: readonly [string, RegExp][] = [['05', /^\d\d([.,]\d+)?/]];
const microseconds: readonly [string, RegExp][] = [
  ['05', /^\d\d/],
  ['.000000', /^[.,]\d{6}/],
];
const zone: readonly [string, RegExp][] = [['Z07:00', /^(Z|[-+]\d\d:\d\d)/]];

/** What Go's time.Parse says of what is no time; undefined for a time. `micro`: with six digits of a second. */
export function timeError(text: string, micro: boolean): string | undefined {
  const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
  let rest = text;
  for (const [element, pattern] of [...elements, ...(micro ? microseconds : seconds), ...zone]) {
    const match = pattern.exec(rest);
    if (match === null) {
      const quoted = [text, layout, rest, element].map((part) => JSON.stringify(part));
      return `parsing time ${quoted[0]} as ${quoted[1]}: cannot parse ${quoted[2]} as ${quoted[3]}`;
    }
    rest = rest.slice(match[0].length);
  }
  if (rest !== '') return `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`;
  const out = outOfRange(text);
  return out && `parsing time ${JSON.stringify(text)}: ${out} out of range`;
}

function outOfRange(text: string): string | undefined {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  const [hour = 0, minute = 0, second = 0] = text
    .slice(11)
    .split(/[:.,Z+-]/)
    .map(Number);
  if (month < 1 || month > 12) return 'month';
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return 'day';
  if (hour > 23) return 'hour';
  if (minute > 59) return 'minute';
  if (second > 59) return 'second';
  const [, offset = 0, past = 0] = (/[-+](\d\d):(\d\d)$/.exec(text) ?? []).map(Number);
  // Go lets people write a whole day, or hour, of it.
  if (offset > 24) return 'time zone offset hour';
  return past > 60 ? 'time zone offset minute' : undefined;
}
