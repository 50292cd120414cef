import { emptiesOf } from '../defaults/empty.ts';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldSet } from './fields.ts';
import { type FieldManagement, identityOf } from './record.ts';

/** Shapes that are remembered of one kind, and how long the description of one may be, in characters. */
const shapesOfKind = 500;
const longestShape = 2000;

interface Known {
  ignore: FieldSet | undefined;
  /** fieldsV1 as text by shape; empty: nobody owns anything. */
  fields: Map<string, string>;
}

const known = new WeakMap<Schema, Known>();

/**
 * What somebody owns who creates an object depends on its shape, not on its values, and objects of one shape come in
 * great numbers. `work` is asked for the first of each; what it answers must depend on nothing else.
 */
export function ownedByCreator(
  object: KubeObject,
  by: FieldManagement,
  work: () => readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const shape = shapeOf(object);
  if (shape === undefined) return work()?.slice();
  const fields = fieldsOf(by);
  let text = fields.get(shape);
  if (text === undefined) {
    const [entry] = work() ?? [];
    text = entry?.fieldsV1 === undefined ? '' : JSON.stringify(entry.fieldsV1);
    if (fields.size >= shapesOfKind) fields.clear();
    fields.set(shape, text);
  }
  if (text === '') return undefined;
  const { manager, operation, apiVersion, subresource } = identityOf(by, 'Update');
  return [
    {
      ...{ manager, operation, apiVersion, time: by.time },
      ...{ fieldsType: 'FieldsV1', fieldsV1: JSON.parse(text) as JsonObject },
      ...(subresource && { subresource }),
    },
  ];
}

function fieldsOf({ schema, ignore }: FieldManagement): Map<string, string> {
  const there = known.get(schema);
  if (there !== undefined && there.ignore === ignore) return there.fields;
  const fields = new Map<string, string>();
  known.set(schema, { ignore, fields });
  return fields;
}

/** Names and kinds of values, zeros apart, and of lists the values too, which may be keys. Undefined: too long, or not only JSON. */
function shapeOf(object: unknown): string | undefined {
  const text = describe(object, false, 0);
  return text === undefined || text.length > longestShape ? undefined : text;
}

function describe(value: unknown, whole: boolean, depth: number): string | undefined {
  if (value === null) return 'n';
  if (typeof value !== 'object') return whole ? scalar(value) : isZero(value) ? 'z' : 's';
  // The second is what was given empty and is gone: it is owned too.
  if (depth > 20 || emptiesOf(value) !== undefined) return undefined;
  const list = Array.isArray(value);
  let text = list ? '[' : '{';
  for (const [key, item] of list ? value.entries() : Object.entries(value)) {
    if (item === undefined) continue;
    const inner = describe(item, whole || list, depth + 1);
    if (inner === undefined || text.length > longestShape) return undefined;
    text += list ? `${inner},` : `${String(key).length}:${key}${inner}`;
  }
  return text + (list ? ']' : '}');
}

/** Kubernetes writes some of these where nobody gave any, and nobody owns those. */
function isZero(value: unknown): boolean {
  return value === 0 || value === 0n || value === '' || value === false;
}

/** Told apart from every other text: its length comes first. */
function scalar(value: unknown): string {
  const text = String(value);
  return `${typeof value === 'string' ? 's' : 'v'}${text.length}:${text}`;
}
