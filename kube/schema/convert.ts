import { jsonType } from '../go-words.ts';
import type { GroupVersionKind } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import { isRecord } from '../untyped.ts';
import { type GoField, type GoShape, type GoStruct, structOf } from './go.ts';
import { base64Error, isNumber, specialError, typeName } from './mismatch.ts';

/**
 * Why kube-apiserver cannot make an object of the kind out of the result of a strategic merge patch: there it is not
 * the JSON decoder that looks, but a converter, field by field in the order of the type, with words of its own.
 * Undefined where it sees nothing wrong, and for kinds that are not built in.
 */
export function conversionProblem(value: JsonObject, gvk: GroupVersionKind): string | undefined {
  const struct = structOf(gvk.group, gvk.version, gvk.kind);
  return struct && structProblem(value, struct);
}

const text: GoShape = { kind: 'string' };

function structProblem(value: Json, struct: GoStruct): string | undefined {
  if (!isRecord(value)) return `cannot restore struct from: ${goKind(value)}`;
  const map = value as JsonObject;
  const typed = struct.typed ? ['kind', 'apiVersion'] : [];
  for (const name of typed) {
    const problem = Object.hasOwn(map, name) && shapeProblem(map[name] ?? null, text);
    if (problem) return problem;
  }
  for (const field of struct.fields) {
    const problem = fieldProblem(map, field);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function fieldProblem(map: JsonObject, { name, inline, shape }: GoField): string | undefined {
  if (inline) return shapeProblem(map, shape);
  return Object.hasOwn(map, name) ? shapeProblem(map[name] ?? null, shape) : undefined;
}

function shapeProblem(value: Json, shape: GoShape): string | undefined {
  if (value === null) return undefined;
  switch (shape.kind) {
    case 'struct':
      return shape.struct.special === undefined
        ? structProblem(value, shape.struct)
        : specialProblem(value, shape.struct);
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${goKind(value)}`;
      return first(value, (item) => shapeProblem(item, shape.items));
    case 'map':
      if (!isRecord(value)) return `cannot restore map from ${goKind(value)}`;
      return first(Object.values(value as JsonObject), (item) => shapeProblem(item, shape.values));
    case 'bytes': {
      if (typeof value !== 'string') return `cannot restore slice from ${goKind(value)}`;
      const error = base64Error(value);
      return error && `error decoding from json: ${error}`;
    }
    case 'any':
      return undefined;
    default:
      return scalarProblem(value, shape);
  }
}

function first<T>(items: readonly T[], problemOf: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const goKinds: Readonly<Record<string, string>> = { double: 'float64' };

/** Go converts an integer to a text, and a fraction to an integer; the converter then takes neither. */
function scalarProblem(value: Json, shape: GoShape): string | undefined {
  const from = goKind(value);
  const to = goKinds[shape.kind] ?? shape.kind;
  const number = from === 'int64' || from === 'float64';
  if (to === 'string' || to === 'bool') {
    if (from === to) return undefined;
    return to === 'string' && from === 'int64'
      ? `cannot convert int64 to ${typeName(shape)}`
      : `unrecognized type: ${to}`;
  }
  if (!number) return `unrecognized type: ${to}`;
  return from === 'float64' && to !== 'float64' ? `cannot convert float64 to ${typeName(shape)}` : undefined;
}

/** Types that decode themselves do it here, too, but nobody says where. */
function specialProblem(value: Json, { special, name }: GoStruct): string | undefined {
  if (special === undefined) return undefined;
  const error = specialError(special, value);
  if (error === undefined || typeof error === 'string') return error;
  const given = isNumber(value) && error.type === 'int32' ? `number ${value}` : jsonType(value);
  return `json: cannot unmarshal ${given} into Go value of type ${error.type || name}`;
}

function goKind(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  if (isRecord(value)) return 'map';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64';
}
