import type { Json, JsonObject } from '../object.ts';
import { timestamp } from '../timestamp.ts';
import { isRecord } from '../untyped.ts';
import { markEmpty } from './empty.ts';
import { canonicalQuantity } from './quantity.ts';
import { type FieldShape, fieldsOf, type TypeShape } from './shape.ts';

/** Whether empty lists and maps were left where they are. */
export interface Empties {
  found: boolean;
}

/**
 * `value` as Kubernetes' own types would write it back: nulls and zeros that JSON leaves out are gone, structs that
 * are always written are there, unknown fields are dropped, quantities and times are canonical. A new object, but for
 * maps of texts and numbers that are as they should be. `keep` leaves empty lists and maps where they are: some
 * defaults are only for those that nobody gave.
 */
export function normalise(value: Json | undefined, type: TypeShape, keep?: Empties): Json | undefined {
  if (value === undefined || value === null) return undefined;
  switch (type.kind) {
    case 'scalar':
      return scalar(value, type.code);
    case 'pointer':
      return normalise(value, type.element, keep);
    case 'list':
      return Array.isArray(value)
        ? value.map((item) => normalise(item, type.element, keep) ?? zeroOf(type.element))
        : value;
    case 'map':
      return isRecord(value) ? map(value, type.element, keep) : value;
    case 'struct':
      return isRecord(value) ? struct(value, type.name, keep) : value;
  }
}

/** In the order of its keys, as Go writes maps. */
function map(value: JsonObject, element: TypeShape, keep: Empties | undefined): JsonObject {
  if (element.kind === 'scalar' && !rewritten.includes(element.code) && isInOrder(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, normalise(item, element, keep) ?? zeroOf(element)]),
  );
}

function isInOrder(value: JsonObject): boolean {
  let last: string | undefined;
  for (const key of Object.keys(value)) {
    const item = value[key];
    if ((last !== undefined && last >= key) || item === undefined || item === null) return false;
    last = key;
  }
  return true;
}

/** No field has a name that every object knows, so none has to be asked whether it is its own. */
function struct(value: JsonObject, name: string, keep?: Empties): JsonObject {
  const out: JsonObject = {};
  for (const field of fieldsOf(name)) {
    const item = normalise(value[field.name], field.type, keep);
    if (item === undefined) {
      if (field.always) out[field.name] = zeroOf(field.type);
    } else if (!isEmptyList(item, field)) {
      if (!field.omits || !isZero(item)) out[field.name] = item;
    } else if (keep) {
      out[field.name] = item;
      keep.found = true;
    } else {
      if (!field.omits) out[field.name] = null;
      markEmpty(out, field.name, Array.isArray(item));
    }
  }
  return out;
}

/** Storage does not tell an empty list or map from none, and what is always written is then null. */
function isEmptyList(item: Json, { type }: FieldShape): boolean {
  if (type.kind === 'list') return Array.isArray(item) && item.length === 0;
  return type.kind === 'map' && isRecord(item) && isBare(item);
}

function isZero(item: Json): boolean {
  if (Array.isArray(item)) return item.length === 0;
  if (isRecord(item)) return isBare(item);
  return item === '' || item === 0 || item === false;
}

function isBare(item: JsonObject): boolean {
  for (const _ in item) return false;
  return true;
}

function zeroOf(type: TypeShape): Json {
  if (type.kind === 'struct') return struct({}, type.name);
  if (type.kind !== 'scalar') return null;
  return zeros[type.code] ?? null;
}

const zeros: Readonly<Record<string, Json>> = { s: '', i: 0, f: 0, b: false, q: '0', x: 0, d: '0s' };

/** Of what is not kept as it was given. */
const rewritten = 'qty';

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
  return timestamp(millis);
}

/** What `/status` of a built-in kind holds before anybody wrote to it; undefined for a kind without one. */
export function emptyStatus(root: TypeShape | undefined): JsonObject | undefined {
  const type = statusType(root);
  return type === undefined ? undefined : struct({}, type);
}

/** A status of a built-in kind as Kubernetes' own types would write it back; of any other kind as it is. */
export function normaliseStatus(status: JsonObject, root: TypeShape | undefined): JsonObject {
  const type = statusType(root);
  return type === undefined ? status : struct(status, type);
}

function statusType(root: TypeShape | undefined): string | undefined {
  if (root?.kind !== 'struct') return undefined;
  const status = fieldsOf(root.name).find((field) => field.name === 'status');
  return status?.type.kind === 'struct' ? status.type.name : undefined;
}
