import { logicalClusterAnnotation } from '../../cluster/names.ts';
import { decodeJson, encodeJson } from '../../kube/json.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import type { Entry } from '../../storage/store.ts';

/**
 * The bytes of an object at rest: compact JSON without resourceVersion that starts
 * `{"kind":"…","apiVersion":"…","metadata":{`, annotations first if there are any. What varies with the reader
 * (resourceVersion, the logical cluster, kind and apiVersion in lists) is cut in or out as bytes.
 */
const metadataMark = Buffer.from('"metadata":{');
const annotationsMark = Buffer.from('"annotations":{');
const closingBrace = 0x7d;

export function encodeStored(object: KubeObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  const { annotations, resourceVersion: _, ...meta } = metadata;
  return Buffer.from(
    encodeJson({
      kind,
      apiVersion,
      metadata: { ...(annotations && { annotations: withoutCluster(annotations) }), ...meta },
      ...rest,
    }),
  );
}

function withoutCluster(annotations: Record<string, string>): Record<string, string> {
  if (!Object.hasOwn(annotations, logicalClusterAnnotation)) return annotations;
  const { [logicalClusterAnnotation]: _, ...rest } = annotations;
  return rest;
}

/** The object as its owner sees it; `cluster` is given in wildcard reads. The caller owns the answer. */
export function decodeStored(entry: Entry, cluster?: string): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = decodeJson(entry.value).value as unknown as KubeObject;
  const meta: ObjectMeta = { ...metadata, resourceVersion: String(entry.revision) };
  if (cluster !== undefined) {
    meta.annotations = { ...meta.annotations, [logicalClusterAnnotation]: cluster };
  }
  return { kind, apiVersion, metadata: meta, ...rest };
}

/** What decodeStored would answer for an entry that `object` was just encoded to, without reading it again. */
export function asStored(object: KubeObject, entry: Entry): KubeObject {
  const { annotations } = object.metadata;
  const metadata: ObjectMeta = { ...object.metadata, resourceVersion: String(entry.revision) };
  if (annotations) metadata.annotations = withoutCluster(annotations);
  return { ...object, metadata };
}

/** As decodeStored, in bytes. `bare` leaves kind and apiVersion out, as lists of built-in kinds do. */
export function spliceStored(entry: Entry, options: { cluster?: string; bare?: boolean }): Buffer {
  const value = Buffer.from(entry.value.buffer, entry.value.byteOffset, entry.value.byteLength);
  const mark = value.indexOf(metadataMark);
  const inside = mark + metadataMark.length;
  const head = options.bare ? Buffer.from('{"metadata":{') : value.subarray(0, inside);
  const version = `"resourceVersion":"${entry.revision}",`;
  if (options.cluster === undefined) {
    return Buffer.concat([head, Buffer.from(version), value.subarray(inside)]);
  }
  const tag = `"${logicalClusterAnnotation}":${JSON.stringify(options.cluster)}`;
  const annotated = value.subarray(inside, inside + annotationsMark.length).equals(annotationsMark);
  if (!annotated) {
    return Buffer.concat([head, Buffer.from(`${version}"annotations":{${tag}},`), value.subarray(inside)]);
  }
  const after = inside + annotationsMark.length;
  const comma = value[after] === closingBrace ? '' : ',';
  return Buffer.concat([head, Buffer.from(`${version}"annotations":{${tag}${comma}`), value.subarray(after)]);
}
