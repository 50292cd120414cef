import type { Json, JsonObject } from '../object.ts';
import { markEmpty } from './empty.ts';
import { isRecord } from './json.ts';
import { canonicalQuantity } from './quantity.ts';
import { type FieldShape, fieldsOf, type TypeShape } from './shape.ts';

/**
 * `value` as Kubernetes' own types would write it back: nulls and zeros that JSON leaves out are gone, structs that
 * are always written are there, unknown fields are dropped, quantities and times are canonical. A new object.
 * `keepEmpty` leaves empty lists and maps where they are: some defaults are only for those that nobody gave.
 */
export function normalise(value: Json | undefined, type: TypeShape, keepEmpty = false): Json | undefined {
  if (value === undefined || value === null) return undefined;
  switch (type.kind) {
    case 'scalar':
      return scalar(value, type.code);
    case 'pointer':
      return normalise(value, type.of, keepEmpty);
    case 'list':
      return Array.isArray(value)
        ? value.map((item) => normalise(item, type.of, keepEmpty) ?? zeroOf(type.of))
        : value;
    case 'map':
      return isRecord(value)
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, item]) => [key, normalise(item, type.of, keepEmpty) ?? zeroOf(type.of)]),
          )
        : value;
    case 'struct':
      return isRecord(value) ? struct(value, type.name, keepEmpty) : value;
  }
}

function struct(value: JsonObject, name: string, keepEmpty = false): JsonObject {
  const out: JsonObject = {};
  for (const field of fieldsOf(name)) {
    const own = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
    const item = normalise(own, field.type, keepEmpty);
    const empty = item !== undefined && isEmptyList(item, field);
    if (empty && keepEmpty) out[field.name] = item;
    else if (item !== undefined && !leftOut(item, field)) out[field.name] = empty ? null : item;
    else if (field.flag === '!' || (field.flag === '?' && alwaysWritten(field.type))) {
      out[field.name] = item ?? zeroOf(field.type);
    }
    if (empty && !keepEmpty) markEmpty(out, field.name, Array.isArray(item));
  }
  return out;
}

/** Storage does not tell an empty list or map from none, and what is always written is then null. */
function isEmptyList(item: Json, { type }: FieldShape): boolean {
  if (type.kind === 'list') return Array.isArray(item) && item.length === 0;
  return type.kind === 'map' && isRecord(item) && Object.keys(item).length === 0;
}

/** Go's `omitempty` does not apply to structs, and these are structs. */
function alwaysWritten(type: TypeShape): boolean {
  return type.kind === 'struct' || (type.kind === 'scalar' && 'xtuqdr'.includes(type.code));
}

function leftOut(item: Json, { flag, type }: FieldShape): boolean {
  if (flag === '!' || type.kind === 'pointer' || alwaysWritten(type)) return false;
  if (Array.isArray(item)) return item.length === 0;
  if (isRecord(item)) return Object.keys(item).length === 0;
  return item === '' || item === 0 || item === false;
}

function zeroOf(type: TypeShape): Json {
  if (type.kind === 'struct') return struct({}, type.name);
  if (type.kind !== 'scalar') return null;
  const zeros: Record<string, Json> = { s: '', i: 0, f: 0, b: false, q: '0', x: 0, d: '0s' };
  return zeros[type.code] ?? null;
}

function scalar(value: Json, code: string): Json {
  if (code === 'q') return canonicalQuantity(value) as Json;
  if (code === 't' && typeof value === 'string') return canonicalTime(value);
  if (code === 'y' && typeof value === 'string') return value.replace(/[\r\n]/g, '');
  return value;
}

/** RFC 3339 in UTC, whole seconds, as metav1.Time is written. */
function canonicalTime(value: string): string {
  const millis = Date.parse(value);
  if (Number.isNaN(millis)) return value;
  return `${new Date(Math.floor(millis / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** What `/status` of a built-in kind holds before anybody wrote to it; undefined for a kind without one. */
export function emptyStatus(root: TypeShape | undefined): JsonObject | undefined {
  if (root?.kind !== 'struct') return undefined;
  const status = fieldsOf(root.name).find((field) => field.name === 'status');
  return status?.type.kind === 'struct' ? struct({}, status.type.name) : undefined;
}
