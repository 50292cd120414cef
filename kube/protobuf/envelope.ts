import { DecodeError } from './errors.ts';
import { Reader } from './reader.ts';
import { Writer } from './writer.ts';

/** What runtime.Unknown carries: the kind, and the object's own message. */
export interface Envelope {
  apiVersion: string;
  kind: string;
  raw: Uint8Array;
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0);

export function isProtobuf(data: Uint8Array): boolean {
  return data.length >= magic.length && magic.every((byte, i) => data[i] === byte);
}

export function readEnvelope(data: Uint8Array): Envelope {
  if (data.length === 0) throw new DecodeError('empty data');
  if (!isProtobuf(data)) {
    const prefix = [...magic].join(' ');
    throw new DecodeError(
      `provided data does not appear to be a protobuf message, expected prefix [${prefix}]`,
    );
  }
  if (data.length === magic.length) throw new DecodeError('empty body');
  const reader = new Reader(data, magic.length);
  const result: Envelope = { apiVersion: '', kind: '', raw: new Uint8Array() };
  while (!reader.done) {
    const key = reader.key();
    if (key === 10) readTypeMeta(reader.message(), result);
    else if (key === 18) result.raw = reader.bytes();
    else reader.skip(key & 7);
  }
  return result;
}

function readTypeMeta(reader: Reader, into: Envelope): void {
  while (!reader.done) {
    const key = reader.key();
    if (key === 10) into.apiVersion = reader.string();
    else if (key === 18) into.kind = reader.string();
    else reader.skip(key & 7);
  }
}

/** `body` writes the object's own message. */
export function writeEnvelope(apiVersion: string, kind: string, body: (writer: Writer) => void): Uint8Array {
  const writer = new Writer();
  writer.string('');
  writer.key(4, 2);
  writer.string('');
  writer.key(3, 2);
  writer.message(2, () => body(writer));
  writer.message(1, () => {
    writer.string(kind);
    writer.key(2, 2);
    writer.string(apiVersion);
    writer.key(1, 2);
  });
  writer.raw(magic);
  return writer.finish();
}
