import { createHash } from 'node:crypto';

/** What is added to an OpenAPI 2 document: of each section what stands between its braces. */
export interface Addition {
  paths: string;
  definitions: string;
  parameters: string;
  /** The same. */
  protobuf: Uint8Array;
  /** Of all that. */
  hash: string;
}

/** Where the sections of our own document end: what is before them has nobody else's words, nor has what follows. */
const endOfPaths = '},"definitions":{';
const endOfDefinitions = '},"securityDefinitions":{';

/** `own`: a document as openapiV2 has it, which is neither read nor written anew: it has megabytes. */
export function withAddition(own: Uint8Array, { paths, definitions, parameters }: Addition): Uint8Array {
  const bytes = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
  const [first, last] = [bytes.indexOf(endOfPaths), bytes.lastIndexOf(endOfDefinitions)];
  const after = (text: string) => Buffer.from(text && `,${text}`);
  return Buffer.concat([
    bytes.subarray(0, first),
    after(paths),
    bytes.subarray(first, last),
    after(definitions),
    Buffer.from(`},"parameters":{${parameters}`),
    bytes.subarray(last),
  ]);
}

/** Of the whole, without reading either again. */
export function hashWith({ hash }: { readonly hash: string }, addition: Addition): string {
  return hashOf([hash, addition.hash]);
}

export function hashOf(texts: readonly string[]): string {
  const hash = createHash('sha512');
  for (const text of texts) hash.update(`${text.length} `).update(text);
  return hash.digest('hex').toUpperCase();
}
