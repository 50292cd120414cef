import { isRecord } from '../untyped.ts';
import { looseDuration } from '../validation/loose-duration.ts';
import { type Budget, RunError } from './eval/budget.ts';
import { readDuration, readTimestamp } from './eval/times.ts';
import { Duration } from './eval/values.ts';

type Rules = Record<string, unknown>;

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** A property's name as rules write it. https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-path-escaping */
export function escapeName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/**
 * Decoded JSON as CEL's values, by its structural schema: whole numbers, times and bytes are types there. Each value costs a
 * step of `budget`, where there is one. Throws CostExceeded.
 */
export function toCel(value: unknown, schema: unknown, budget?: Budget): unknown {
  budget?.step();
  const rules: Rules = isRecord(schema) ? schema : {};
  if (typeof value === 'number') {
    if (rules['type'] === 'number' || !Number.isInteger(value)) return value;
    return BigInt(value);
  }
  if (typeof value === 'string') return toCelString(value, rules['format']);
  if (Array.isArray(value)) return value.map((item) => toCel(item, rules['items'], budget));
  if (!isRecord(value)) return value;
  const properties = isRecord(rules['properties']) ? rules['properties'] : {};
  const entries = Object.entries(value).map(([name, item]): [string, unknown] =>
    Object.hasOwn(properties, name)
      ? [escapeName(name), toCel(item, properties[name], budget)]
      : [name, toCel(item, rules['additionalProperties'], budget)],
  );
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}

function toCelString(value: string, format: unknown): unknown {
  if (format === 'byte') return new Uint8Array(Buffer.from(value, 'base64'));
  if (format === 'duration') return durationOf(value) ?? value;
  if (format !== 'date-time' && format !== 'date') return value;
  return timeOf(value);
}

function timeOf(value: string): unknown {
  try {
    return readTimestamp(value);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
  }
  const millis = Date.parse(value);
  return Number.isNaN(millis) ? value : new Date(millis);
}

function durationOf(value: string): Duration | undefined {
  const read = readDuration(value);
  const nanos = read ? undefined : looseDuration(value);
  return nanos === undefined ? read : new Duration(nanos);
}
