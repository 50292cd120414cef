import { logicalClusterAnnotation } from '../../cluster/names.ts';
import { anyDepth, decodeJson, encodeJson } from '../../kube/json.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import { type Entry, StoreError } from '../../storage/store.ts';

/**
 * The bytes of an object at rest: compact JSON without resourceVersion that starts
 * `{"kind":"…","apiVersion":"…","metadata":{`, annotations first if there are any. What varies with the reader
 * (resourceVersion, the logical cluster, kind and apiVersion in lists) is cut in or out as bytes.
 */
const metadataMark = Buffer.from('"metadata":{');
const annotationsMark = Buffer.from('"annotations":{');
const openingBrace = 0x7b;
const closingBrace = 0x7d;

export function encodeStored(object: KubeObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object;
  // Annotations are cut into, labels are looked for: both are at a place that is found quickly.
  const { annotations, labels, resourceVersion: _, ...meta } = metadata;
  return ownBytes(
    encodeJson({
      kind,
      apiVersion,
      metadata: {
        ...(annotations && { annotations: withoutCluster(annotations) }),
        ...(labels && { labels }),
        ...meta,
      },
      ...rest,
    }),
  );
}

/** Not a piece of Node's pool: what is stored is kept for long, and would keep that with all that lies beside it. */
function ownBytes(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function withoutCluster(annotations: Record<string, string>): Record<string, string> {
  if (!Object.hasOwn(annotations, logicalClusterAnnotation)) return annotations;
  const { [logicalClusterAnnotation]: _, ...rest } = annotations;
  return rest;
}

/** The object as its owner sees it; `cluster` is given in wildcard reads. The caller owns the answer. */
export function decodeStored(entry: Entry, cluster?: string): KubeObject {
  refuseOther(entry);
  const { value } = decodeJson(entry.value, anyDepth);
  const { kind, apiVersion, metadata, ...rest } = value as unknown as KubeObject;
  const meta: ObjectMeta = { ...metadata, resourceVersion: String(entry.revision) };
  if (cluster !== undefined) {
    meta.annotations = { ...meta.annotations, [logicalClusterAnnotation]: cluster };
  }
  return { kind, apiVersion, metadata: meta, ...rest };
}

/** What is no object was encrypted, by a configuration that this server does not have any more: it is shown to nobody. */
function refuseOther({ key, value }: Entry): void {
  if (value[0] === openingBrace) return;
  throw new StoreError(
    'corrupt',
    `unable to transform key "${key}": identity transformer tried to read encrypted data`,
    { key },
  );
}

/** What decodeStored would answer for an entry that `object` was just encoded to, without reading it again. */
export function asStored(object: KubeObject, entry: Entry): KubeObject {
  const { annotations } = object.metadata;
  const metadata: ObjectMeta = { ...object.metadata, resourceVersion: String(entry.revision) };
  if (annotations) metadata.annotations = withoutCluster(annotations);
  return { ...object, metadata };
}

/**
 * What this process wrote last, by its key: who watches gets it by `shownStored` without reading its bytes, which may come by a pipe, and
 * so be others that are the same.
 */
const lastWritten = new Map<string, { bytes: Uint8Array; object: KubeObject }>();

/** Writes an object, which nobody may change from then on. */
export async function written(
  key: string,
  object: KubeObject,
  write: (bytes: Uint8Array) => Promise<Entry>,
): Promise<Entry> {
  const bytes = encodeStored(object);
  const own = { bytes, object };
  lastWritten.delete(key);
  keepFew(lastWritten, key, own);
  let isKept = false;
  try {
    const entry = await write(bytes);
    isKept = bytes.length <= longestRead;
    return entry;
  } finally {
    if (!isKept && lastWritten.get(key) === own) lastWritten.delete(key);
  }
}

function ownWrite({ key, value }: Entry): KubeObject | undefined {
  const own = lastWritten.get(key);
  return own && (own.bytes === value || Buffer.compare(own.bytes, value) === 0) ? own.object : undefined;
}

/** So many are told of one write by the time that others come. Of what keeps more memory each reader has its own. */
const mostRead = 128;
const longestRead = 64 * 1024;
/** What was read for many, by its bytes: who is told of a write is told of it soon after the others. */
const lastRead = new Map<Uint8Array, KubeObject>();

function readLast(entry: Entry): KubeObject {
  const found = lastRead.get(entry.value);
  if (found) return found;
  const object = decodeStored(entry);
  // Bytes keep all that they are a piece of.
  if (entry.value.buffer.byteLength > longestRead) return object;
  keepFew(lastRead, entry.value, object);
  return object;
}

function keepFew<K, V>(all: Map<K, V>, key: K, value: V): void {
  all.set(key, value);
  const [oldest] = all.keys();
  if (all.size > mostRead && oldest !== undefined) all.delete(oldest);
}

/** As decodeStored, for many: nobody may change the answer. */
export function shownStored(entry: Entry, cluster?: string): KubeObject {
  const object = ownWrite(entry) ?? readLast(entry);
  const shown = asStored(object, entry);
  if (cluster !== undefined) {
    shown.metadata.annotations = { ...shown.metadata.annotations, [logicalClusterAnnotation]: cluster };
  }
  return shown;
}

export interface SpliceOptions {
  /** Names the logical cluster, in wildcard reads. */
  cluster?: string;
  /** Leaves kind and apiVersion out, as lists of built-in kinds do. */
  bare?: boolean;
}

const newline = 0x0a;

/** As decodeStored, in bytes. */
export function spliceStored(entry: Entry, options: SpliceOptions): Buffer {
  const splice = spliceOf(entry, options);
  const bytes = Buffer.allocUnsafe(splice.length);
  splice.write(bytes, 0);
  return bytes;
}

/** As decodeStored, as an answer of its own: it ends with a newline. */
export function answerStored(entry: Entry): Buffer {
  const splice = spliceOf(entry, {});
  const bytes = Buffer.allocUnsafe(splice.length + 1);
  bytes[splice.write(bytes, 0)] = newline;
  return bytes;
}

/** An entry on its way out: how long it is, and how to write it into somebody's buffer. */
export class Splice {
  readonly length: number;
  readonly #value: Uint8Array;
  /** Of the value, what comes before the inserted text; 0 for bare ones. */
  readonly #head: number;
  /** ASCII. */
  readonly #inserted: string;
  readonly #tail: number;

  constructor(value: Uint8Array, head: number, inserted: string, tail: number) {
    this.#value = value;
    this.#head = head;
    this.#inserted = inserted;
    this.#tail = tail;
    this.length = head + inserted.length + value.length - tail;
  }

  /** Answers where the next byte goes. */
  write(into: Buffer, offset: number): number {
    const value = this.#value;
    let next = offset;
    for (let i = 0; i < this.#head; i++) into[next++] = value[i] ?? 0;
    next += into.write(this.#inserted, next, 'latin1');
    into.set(this.#tail === 0 ? value : value.subarray(this.#tail), next);
    return next + value.length - this.#tail;
  }
}

export function spliceOf(entry: Entry, { cluster, bare }: SpliceOptions): Splice {
  refuseOther(entry);
  const { revision } = entry;
  const value = cluster === undefined ? entry.value : taggable(entry);
  const inside = metadataStart(value);
  const head = bare ? 0 : inside;
  const version = `${bare ? '{"metadata":{' : ''}"resourceVersion":"${revision}",`;
  if (cluster === undefined) return new Splice(value, head, version, inside);
  const tag = `"${logicalClusterAnnotation}":${JSON.stringify(cluster)}`;
  if (!holdsAt(value, inside, annotationsMark)) {
    return new Splice(value, head, `${version}"annotations":{${tag}},`, inside);
  }
  const after = inside + annotationsMark.length;
  const comma = value[after] === closingBrace ? '' : ',';
  return new Splice(value, head, `${version}"annotations":{${tag}${comma}`, after);
}

const clusterMark = Buffer.from(`"${logicalClusterAnnotation}":`);

/**
 * Bytes into which a logical cluster can be cut: annotations first or none, and no logical cluster named yet. So is
 * all that encodeStored wrote, but bytes that hold either mark deeper inside are as well written anew as looked into.
 */
function taggable(entry: Entry): Uint8Array {
  const { buffer, byteOffset, byteLength } = entry.value;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const inside = metadataStart(bytes);
  const elsewhere = !holdsAt(bytes, inside, annotationsMark) && bytes.includes(annotationsMark, inside);
  return elsewhere || bytes.includes(clusterMark) ? encodeStored(decodeStored(entry)) : entry.value;
}

/** Neighbours are of one kind, so they begin alike: `{"kind":"…","apiVersion":"…","metadata":{`. */
let lastHead: Uint8Array = Buffer.from('?');

/** Where the first member of the metadata starts. Kind and apiVersion cannot hold what comes before it. */
export function metadataStart(value: Uint8Array): number {
  // All of it is compared: at the same place deeper inside, a user may have written the same mark.
  if (holdsAt(value, 0, lastHead)) return lastHead.length;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  lastHead = Uint8Array.prototype.slice.call(value, 0, bytes.indexOf(metadataMark) + metadataMark.length);
  return lastHead.length;
}

function holdsAt(value: Uint8Array, at: number, mark: Uint8Array): boolean {
  for (let i = 0; i < mark.length; i++) if (value[at + i] !== mark[i]) return false;
  return true;
}

/** Whether it was deleted and waits for its end. Most bytes tell without being read; a label may have that name, too. */
export function isGoing(entry: Entry): boolean {
  const { buffer, byteOffset, length } = entry.value;
  if (!Buffer.from(buffer, byteOffset, length).includes('"deletionTimestamp":"')) return false;
  return decodeStored(entry).metadata.deletionTimestamp !== undefined;
}
