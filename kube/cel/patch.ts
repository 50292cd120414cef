import type { Json, JsonObject } from '../object.ts';
import type { Budget } from './eval/budget.ts';
import { showDuration, showTimestamp } from './eval/times.ts';
import { Duration, entryOf, isMap, keysOf, Message, Opaque, Optional, Uint } from './eval/values.ts';

/** What an expression of a MutatingAdmissionPolicy comes to is no patch. */
export class PatchError extends Error {}

/**
 * An `Object{...}` as JSON. Throws PatchError where it is none, or names other types than its fields'; CostExceeded, since a
 * list of ten lists of ten lists is few steps for an expression and many values for JSON.
 */
export function applyConfigurationIn(value: unknown, budget: Budget): JsonObject {
  if (!(value instanceof Message) || value.type !== 'Object') throw new PatchError('must evaluate to Object');
  requireNames(value, ['Object'], budget);
  return jsonOf(value, budget) as JsonObject;
}

/** A list of `JSONPatch{...}` as RFC 6902 has it. Throws PatchError, CostExceeded. */
export function jsonPatchIn(value: unknown, budget: Budget): JsonObject[] {
  if (!Array.isArray(value) || !value.every((one) => one instanceof Message && one.type === 'JSONPatch'))
    throw new PatchError('must evaluate to list(JSONPatch)');
  return value.map((operation: Message) => {
    const given = operation.get('value');
    if (given instanceof Message) requireNames(given, [given.type], budget);
    return { op: '', path: '', ...(jsonOf(operation, budget) as JsonObject) };
  });
}

/** The type of what stands under a field is that of the whole with the field's name: else a mistyped one would be lost. */
function requireNames(value: unknown, path: readonly string[], budget: Budget): void {
  budget.step();
  if (Array.isArray(value)) for (const item of value) requireNames(item, path, budget);
  else if (value instanceof Message) {
    if (value.type !== path.join('.'))
      throw new PatchError(
        `type mismatch: unexpected type name ${JSON.stringify(value.type)}, expected ${JSON.stringify(path.join('.'))}, which matches field name path from root Object type`,
      );
    for (const [field, held] of value) requireNames(held, [...path, String(field)], budget);
  } else if (value instanceof Map) for (const held of value.values()) requireNames(held, path, budget);
}

function jsonOf(value: unknown, budget: Budget): Json {
  budget.step();
  if (typeof value === 'string' || value instanceof Uint8Array) budget.text(value);
  if (value === null || ['boolean', 'number', 'string'].includes(typeof value)) return value as Json;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date) return showTimestamp(value);
  if (value instanceof Duration) return showDuration(value);
  if (value instanceof Opaque) return value.key;
  if (value instanceof Optional) return value.hasValue ? jsonOf(value.value, budget) : null;
  if (Array.isArray(value)) return value.map((item) => jsonOf(item, budget));
  if (!isMap(value)) throw new PatchError('it has a value that no JSON holds');
  return Object.fromEntries(
    keysOf(value).map((key) => {
      if (typeof key !== 'string') throw new PatchError(`map key ${String(key)} is not string`);
      budget.text(key);
      return [key, jsonOf(entryOf(value, key), budget)];
    }),
  );
}
