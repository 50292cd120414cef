import { createHash } from 'node:crypto';
import { validateDns1123Label, validateDns1123Subdomain } from '../../../kube/names.ts';
import { type Header, header } from './proto.ts';

const keyIdMost = 1024;
const seedMost = 1024;
const annotationsMost = 32 * 1024;
const lengthBytes = 4;

/** What comes before a sealed value: its length, and the header. Throws Error where a plugin may not answer so. */
export function written(answer: Header): Buffer {
  const wrong = wrongHeader(answer);
  if (wrong !== undefined) throw new Error(wrong);
  const bytes = header.encode(answer);
  const head = Buffer.allocUnsafeSlow(lengthBytes + bytes.length);
  head.writeUInt32BE(bytes.length);
  head.set(bytes, lengthBytes);
  return head;
}

/** Throws Error where there is no whole header. */
export function cut(stored: Uint8Array): { head: Buffer; sealed: Uint8Array } {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.length);
  const end = bytes.length < lengthBytes ? Infinity : lengthBytes + bytes.readUInt32BE();
  if (end > bytes.length) throw new Error('the stored data was shorter than the required size');
  return { head: bytes.subarray(0, end), sealed: bytes.subarray(end) };
}

/** Throws Error. */
export function read(head: Uint8Array): Header {
  const found = header.decode(head.subarray(lengthBytes));
  const wrong = wrongHeader(found);
  if (wrong !== undefined) throw new Error(wrong);
  return found;
}

/** Of a header that is stored, without looking at the rest. */
export function keyIdOf(head: Uint8Array): string {
  return header.decode(head.subarray(lengthBytes)).keyId;
}

/** A name for a header that is short, however long it is. */
export function nameOf(head: Uint8Array): string {
  return createHash('sha256').update(head).digest('base64');
}

function wrongHeader({ keyId, seed, annotations }: Header): string | undefined {
  const source = wrongSeed(seed);
  if (source !== undefined) return `failed to validate encrypted DEK source: ${source}`;
  const id = wrongKeyId(keyId);
  if (id !== undefined) return `failed to validate key id: ${id.message}`;
  const notes = wrongAnnotations(annotations);
  return notes.length > 0 ? `failed to validate annotations: ${aggregate(notes)}` : undefined;
}

/** `code` is the label of kube-apiserver's metric. */
export function wrongKeyId(keyId: string): { code: 'empty' | 'too_long'; message: string } | undefined {
  const length = Buffer.byteLength(keyId);
  if (length === 0) return { code: 'empty', message: 'keyID is empty' };
  if (length <= keyIdMost) return undefined;
  return {
    code: 'too_long',
    message: `keyID is ${length} bytes, which exceeds the max size of ${keyIdMost}`,
  };
}

function wrongSeed({ length }: Uint8Array): string | undefined {
  if (length === 0) return 'encrypted DEK source is empty';
  if (length <= seedMost) return undefined;
  return `encrypted DEK source is ${length} bytes, which exceeds the max size of ${seedMost}`;
}

function wrongAnnotations(annotations: Header['annotations']): string[] {
  const wrong: string[] = [];
  let total = 0;
  for (const [name, { length }] of Object.entries(annotations)) {
    total += Buffer.byteLength(name) + length;
    const why = wrongDomain(name);
    if (why.length > 0) wrong.push(aggregate(why));
  }
  if (total > annotationsMost) {
    wrong.push(`total size of annotations is ${total}, which exceeds the max size of ${annotationsMost}`);
  }
  return wrong;
}

function wrongDomain(name: string): string[] {
  if (name === '') return ['annotations: Required value'];
  const bare = name.replace(/\.$/, '');
  const invalid = (why: string) => `annotations: Invalid value: ${JSON.stringify(name)}: ${why}`;
  const whole = validateDns1123Subdomain(bare);
  if (whole.length > 0) return whole.map(invalid);
  const labels = bare.split('.');
  if (labels.length < 2) return [invalid('should be a domain with at least two segments separated by dots')];
  return labels.flatMap(validateDns1123Label).map(invalid);
}

/** As Go's apimachinery joins errors. */
export function aggregate(messages: readonly string[]): string {
  const [first = '', ...more] = new Set(messages);
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`;
}
