import { decodeJsonText, encodeJson } from '../json.ts';
import type { Json, JsonObject, KubeObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { sortedKeys } from '../sorted.ts';
import { isRecord } from '../untyped.ts';
import type { FieldSet } from './fields.ts';
import { compare, fieldSetOf, validate } from './typed.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const maxAnnotationBytes = 256 * 1024;

/** The JSON that client-side apply remembers. */
export function lastApplied(object: KubeObject): string | undefined {
  const annotations = object.metadata?.annotations;
  if (!annotations || !Object.hasOwn(annotations, annotation)) return undefined;
  return annotations[annotation];
}

export function hasLastApplied(object: KubeObject): boolean {
  return !!lastApplied(object);
}

/** What client-side apply set and still stands; undefined when the annotation cannot tell. */
export function lastAppliedSet(
  live: KubeObject,
  { schema, apiVersion }: { schema: Schema; apiVersion: string },
): FieldSet | undefined {
  const text = lastApplied(live);
  if (!text) return undefined;
  let last: Json;
  try {
    last = decodeJsonText(text).value;
    if (!isRecord(last) || last['apiVersion'] !== apiVersion) return undefined;
    validate(last, schema);
  } catch {
    return undefined;
  }
  const changed = compare(last, live as JsonObject, schema);
  return fieldSetOf(last, schema)
    .difference(changed.modified)
    .difference(changed.added)
    .difference(changed.removed);
}

/** The object with the annotation saying what is applied now; without it where it would be too large. */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { [annotation]: _, ...own } = applied.metadata?.annotations ?? {};
  const hadAnnotations = applied.metadata?.annotations !== undefined;
  const metadata = { ...applied.metadata, ...(hadAnnotations && { annotations: own }) };
  const value = `${encodeJson(sortedKeys({ ...applied, metadata } as unknown as JsonObject))}\n`;
  const annotations: Record<string, string> = { ...object.metadata.annotations, [annotation]: value };
  let size = 0;
  for (const [key, text] of Object.entries(annotations))
    size += Buffer.byteLength(key) + Buffer.byteLength(text);
  if (size > maxAnnotationBytes) delete annotations[annotation];
  const { annotations: _before, ...rest } = object.metadata;
  const some = Object.keys(annotations).length > 0;
  return { ...object, metadata: { ...rest, ...(some && { annotations }) } };
}
