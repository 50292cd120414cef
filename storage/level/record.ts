import { crc32 } from 'node:zlib';
import type { Entry, StoreEvent } from '../store.ts';

/**
 * What one revision is on disk, under the key `recordKey(revision)`. Records are at once the change log and
 * the values: a record is kept while its revision is history or its value is current.
 *
 *   0  type (1 put, 2 delete)   7  created          19  length of the key
 *   1  revision                 13 previous (or 0)  21  key, value, CRC-32 of everything before it
 *
 * Numbers are big-endian. A delete has no value.
 */
export interface StoredRecord {
  readonly type: 'put' | 'delete';
  readonly revision: number;
  readonly created: number;
  /** The revision that this one replaced; 0 for a create. */
  readonly previous: number;
  readonly key: string;
  readonly value: Uint8Array;
}

const HEADER = 21;
const CHECKSUM = 4;
/** No more than this is kept for the next record. */
const LARGE = 1 << 20;

export const RECORDS = { gte: 'r', lt: 's' } as const;

export function recordKey(revision: number): string {
  return `r${String(revision).padStart(16, '0')}`;
}

/** The other way round. */
export function revisionOf(key: string): number {
  return Number(key.slice(1));
}

export function encodeEvent(event: StoreEvent): Buffer {
  return encode(event.type, event.entry, event.previous?.revision ?? 0);
}

/** An entry whose history is gone. */
export function encodeEntry(entry: Entry): Buffer {
  return encode('put', entry, 0);
}

/** Encodes one event after the other into the same bytes: what it answered is valid until it is called again. */
export function encoder(): (event: StoreEvent) => Buffer {
  let scratch = Buffer.alloc(0);
  return ({ type, entry, previous }) => {
    const length = lengthOf(type, entry);
    if (length > LARGE) return encode(type, entry, previous?.revision ?? 0);
    if (length > scratch.length) scratch = Buffer.allocUnsafeSlow(length * 2);
    return encodeInto(scratch.subarray(0, length), type, entry, previous?.revision ?? 0);
  };
}

function encode(type: StoreEvent['type'], entry: Entry, previous: number): Buffer {
  return encodeInto(Buffer.allocUnsafe(lengthOf(type, entry)), type, entry, previous);
}

function lengthOf(type: StoreEvent['type'], { key, value }: Entry): number {
  return HEADER + key.length + (type === 'put' ? value.length : 0) + CHECKSUM;
}

function encodeInto(bytes: Buffer, type: StoreEvent['type'], entry: Entry, previous: number): Buffer {
  const end = bytes.length - CHECKSUM;
  bytes[0] = type === 'put' ? 1 : 2;
  bytes.writeUIntBE(entry.revision, 1, 6);
  bytes.writeUIntBE(entry.created, 7, 6);
  bytes.writeUIntBE(previous, 13, 6);
  bytes.writeUInt16BE(entry.key.length, 19);
  bytes.write(entry.key, HEADER, 'latin1');
  if (type === 'put') bytes.set(entry.value, HEADER + entry.key.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, end)), end);
  return bytes;
}

/** `undefined` when the bytes are not what was written for that key. The value shares memory with `bytes`. */
export function decodeRecord(key: string, bytes: Buffer): StoredRecord | undefined {
  const end = bytes.length - CHECKSUM;
  if (end < HEADER || crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) return undefined;
  const revision = bytes.readUIntBE(1, 6);
  if (recordKey(revision) !== key) return undefined;
  const valueStart = HEADER + bytes.readUInt16BE(19);
  return {
    type: bytes[0] === 1 ? 'put' : 'delete',
    revision,
    created: bytes.readUIntBE(7, 6),
    previous: bytes.readUIntBE(13, 6),
    key: bytes.toString('latin1', HEADER, valueStart),
    value: bytes.subarray(valueStart, end),
  };
}
