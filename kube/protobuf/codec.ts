import { type GroupVersionKind, parseApiVersion } from '../gvk.ts';
import type { KubeObject } from '../object.ts';
import { structOf } from '../schema/go.ts';
import { decodeObject } from './decode.ts';
import { encodeMessage } from './encode.ts';
import { writeEnvelope } from './envelope.ts';
import { EncodeError } from './errors.ts';
import { Writer } from './writer.ts';

/**
 * Kubernetes' protobuf encoding: the bytes `k8s\0`, then runtime.Unknown{typeMeta=1, raw=2, contentEncoding=3,
 * contentType=4} around the object's own message.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
 */
export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

/** True for kinds that have a published message; custom resources have none. */
export function hasProtobuf(gvk: GroupVersionKind): boolean {
  return structOf(gvk.group, gvk.version, gvk.kind) !== undefined;
}

/**
 * The object in JSON form, as Go would encode what it decodes: zero values included where Go writes them.
 * @param fallback names the kind where the envelope does not: always needed for a WatchEvent, which has none.
 * @throws DecodeError
 */
export function decodeProtobuf(data: Uint8Array, fallback?: GroupVersionKind): KubeObject {
  return decodeObject(data, fallback, 0) as unknown as KubeObject;
}

/**
 * The object's bytes, envelope included. Lists are encoded like any other kind. A WatchEvent carries no kind of its
 * own: neither does its envelope.
 * @param named what the envelope says, for the core group's discovery, which says nothing there.
 * @throws EncodeError for kinds without a message, and for values that their fields cannot hold.
 */
export function encodeProtobuf(object: { apiVersion: string; kind: string }, named?: string): Uint8Array {
  const { apiVersion, kind } = object;
  const gv = parseApiVersion(apiVersion);
  const struct = structOf(gv.group, gv.version, kind);
  if (struct === undefined)
    throw new EncodeError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  const [version, as] = struct.typed ? [named ?? apiVersion, kind] : ['', ''];
  return writeEnvelope(version, as, (writer) => encodeMessage(writer, struct, object));
}

/**
 * One event of a protobuf watch: its length in four bytes, then metav1.WatchEvent without an envelope.
 * @param object the object's encoding, envelope included.
 */
export function encodeWatchEvent(type: string, object: Uint8Array): Uint8Array {
  const writer = new Writer(object.length + 64);
  writer.message(2, () => {
    writer.bytes(object);
    writer.key(1, 2);
  });
  writer.string(type);
  writer.key(1, 2);
  const { length } = writer;
  writer.raw(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length));
  return writer.finish();
}
