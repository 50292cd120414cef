import { encodeJson } from '../../json.ts';
import { quoteGo } from '../../quote.ts';
import { regex } from '../../regex.ts';
import { fits, isNumber } from '../../schema/mismatch.ts';
import type { StatusCause } from '../../status.ts';
import { hasFormat, isFormatOf } from '../formats.ts';

type Rules = Record<string, unknown>;

const jsonTypes = new Set(['', 'array', 'boolean', 'integer', 'number', 'object', 'string']);

/** A number written without a fraction is a whole one, as far as 64 bits hold it. */
function typeOf(value: unknown): { type: string; format: string } {
  if (value === null) return { type: 'null', format: '' };
  if (Array.isArray(value)) return { type: 'array', format: '' };
  if (isWhole(value)) return { type: 'integer', format: 'int64' };
  if (typeof value === 'number') return { type: 'number', format: 'float64' };
  return { type: typeof value, format: '' };
}

export function isWhole(value: unknown): value is number | bigint {
  return isNumber(value) && fits(value, 'int64');
}

/** The types that a schema allows, any when there are none. */
function typesOf(schema: Rules): string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return typeof schema['type'] === 'string' && schema['type'] !== '' ? [schema['type']] : [];
}

export function typeCause(value: unknown, schema: Rules, path: string): StatusCause | undefined {
  const types = typesOf(schema);
  const actual = typeOf(value);
  const format = formatOf(schema, types);
  if (types.length === 0 && format === '') return undefined;
  if (value === null) return types.length === 0 ? undefined : wrongType(path, actual.type, types.join());
  const fits = types.includes(actual.type) || (actual.type === 'integer' && types.includes('number'));
  const isText = actual.type === 'string' || actual.type === 'array';
  if (!isText && format !== '' && !fits && actual.format !== format)
    return wrongType(path, actual.format, format);
  const isNumeric = types.includes('number') || types.includes('integer');
  // Lists pass for texts with a format.
  if (!isNumeric && format !== '' && isText) return undefined;
  return fits ? undefined : wrongType(path, actual.type, types.join());
}

/** Of those that mean something for the type; a type that is none keeps its own, for defaults to be held to. */
function formatOf(schema: Rules, types: readonly string[]): string {
  const { format } = schema;
  if (typeof format !== 'string' || types.length > 1) return '';
  const [type = ''] = types;
  const known = isFormatOf(format, type) || !jsonTypes.has(type);
  return known ? format : '';
}

function wrongType(path: string, shown: string, type: string): StatusCause {
  const value = JSON.stringify(shown);
  const message = `Invalid value: ${value}: ${path} in body must be of type ${type}: ${value}`;
  return { reason: 'FieldValueTypeInvalid', message, field: path };
}

export function invalid(path: string, shown: string, detail: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${detail}`, field: path };
}

export function enumCauses(value: unknown, schema: Rules, path: string): StatusCause[] {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed)) return [];
  const shown = encodeJson(value);
  // A null is none of them even where it is listed, as in kube-apiserver.
  const listed = (one: unknown) => value !== null && encodeJson(one) === shown;
  if (allowed.some(listed)) return [];
  const list = allowed.map((one) => quoteGo(typeof one === 'string' ? one : encodeJson(one))).join(', ');
  const message = `Unsupported value: ${shown}: supported values: ${list}`;
  return [{ reason: 'FieldValueNotSupported', message, field: path }];
}

export function tooMany(path: string, actual: number, most: number): StatusCause {
  const rule = most < 0 ? 'has too many items' : `must have at most ${most} ${most === 1 ? 'item' : 'items'}`;
  return { reason: 'FieldValueTooMany', message: `Too many: ${actual}: ${rule}`, field: path };
}

/** What is said first is said alone; a format is another matter. */
export function stringCauses(value: string, schema: Rules, path: string): StatusCause[] {
  const { minLength, maxLength, pattern, format } = schema;
  const shown = JSON.stringify(value);
  const length = [...value].length;
  const causes: StatusCause[] = [];
  if (typeof maxLength === 'number' && length > maxLength) {
    const most = `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`;
    const message = `Too long: ${maxLength < 0 ? 'value is too long' : most}`;
    causes.push({ reason: 'FieldValueTooLong', message, field: path });
  } else if (typeof minLength === 'number' && length < minLength) {
    causes.push(invalid(path, shown, `${path} in body should be at least ${minLength} chars long`));
  } else if (typeof pattern === 'string' && !matches(pattern, value)) {
    causes.push(invalid(path, shown, `${path} in body should match '${pattern}'`));
  }
  if (typeof format === 'string' && !hasFormat(value, format)) causes.push(wrongType(path, value, format));
  return causes;
}

/** An expression that RE2 does not know refuses nothing. */
function matches(pattern: string, value: string): boolean {
  return regex(pattern)?.test(value) ?? true;
}
