import type { Field, ObjectSchema, Schema } from '../kube/schema/schema.ts';
import type { KindTexts } from './kind-texts.ts';

export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const any: Schema = { type: 'any' };
export const effect: Schema = { type: 'string', enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] };
export const int32: Schema = { type: 'integer', format: 'int32' };
export const int64: Schema = { type: 'integer', format: 'int64' };
export const intOrString: Schema = { type: 'int-or-string' };

export function object<F extends Record<string, Schema>>(
  fields: F,
  texts: Record<keyof F & string, string>,
  required: readonly string[] = [],
): ObjectSchema {
  const entries = Object.entries(fields).map(([name, schema]): [string, Field] => [
    name,
    { name, schema, description: texts[name] ?? '', ...(required.includes(name) && { required: true }) },
  ]);
  return { type: 'object', fields: new Map(entries) };
}

export function map(values: Schema): Schema {
  return { type: 'map', values };
}

export function list(items: Schema, keys?: readonly string[]): Schema {
  return { type: 'list', items, ...(keys && { listType: 'map' as const, listMapKeys: keys }) };
}

export function kind(
  spec: Schema,
  status: Schema,
  texts: KindTexts,
  required: readonly string[] = [],
): ObjectSchema {
  const fields = { apiVersion: text, kind: text, metadata: any, spec, status };
  const described = { apiVersion: '', kind: '', metadata: '', spec: texts.spec, status: texts.status };
  return { ...object(fields, described, required), description: texts.kind };
}

/** kcp has more fields than we read: what its clients write is kept. */
export function open<F extends Record<string, Schema>>(
  fields: F,
  texts: Record<keyof F & string, string>,
): ObjectSchema {
  return { ...object(fields, texts), open: true };
}

/** Every field of the type has its schema, or this does not compile: what is not here would be pruned. */
export type Fields<T> = Record<keyof T & string, Schema>;
