import { emptiesOf } from '../defaults/empty.ts';
import type { Json, JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldSet } from './fields.ts';
import { type FieldManagement, identityOf } from './record.ts';

/** Shapes that are remembered of one kind, and how long the description of one may be, in characters. */
const shapesOfKind = 500;
const longestShape = 2000;

interface Known {
  ignore: FieldSet | undefined;
  /** fieldsV1 by shape; undefined: nobody owns anything. All objects of a shape share it: it is frozen. */
  fields: Map<string, JsonObject | undefined>;
}

const known = new WeakMap<Schema, Known>();

/**
 * What somebody owns who creates an object depends on its shape, not on its values, and objects of one shape come in
 * great numbers. `work` is asked for the first of each; what it answers must depend on nothing else.
 */
export function ownedByCreator(
  object: KubeObject,
  management: FieldManagement,
  work: () => readonly ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  const shape = shapeOf(object);
  if (shape === undefined) return work()?.slice();
  const fields = fieldsOf(management);
  let fieldsV1 = fields.get(shape);
  if (fieldsV1 === undefined && !fields.has(shape)) {
    fieldsV1 = work()?.[0]?.fieldsV1;
    if (fieldsV1 !== undefined) freeze(fieldsV1);
    if (fields.size >= shapesOfKind) fields.clear();
    fields.set(shape, fieldsV1);
  }
  if (fieldsV1 === undefined) return undefined;
  const { manager, operation, apiVersion, subresource } = identityOf(management, 'Update');
  const entry: ManagedFieldsEntry = {
    manager,
    operation,
    apiVersion,
    time: management.time,
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
  if (subresource) entry.subresource = subresource;
  return [entry];
}

function freeze(value: Json): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freeze(item);
}

function fieldsOf({ schema, ignore }: FieldManagement): Map<string, JsonObject | undefined> {
  const there = known.get(schema);
  if (there !== undefined && there.ignore === ignore) return there.fields;
  const fields = new Map<string, JsonObject | undefined>();
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
  if (Array.isArray(value)) {
    let text = '[';
    for (const item of value) {
      const inner = describe(item, true, depth + 1);
      if (inner === undefined || text.length > longestShape) return undefined;
      text += `${inner},`;
    }
    return `${text}]`;
  }
  let text = '{';
  for (const key of Object.keys(value)) {
    const item = (value as JsonObject)[key];
    if (item === undefined) continue;
    const inner = describe(item, whole, depth + 1);
    if (inner === undefined || text.length > longestShape) return undefined;
    text += `${key.length}:${key}${inner}`;
  }
  return `${text}}`;
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
