import type { JsonObject } from '../object.ts';
import type { Dialect } from './definition.ts';
import { docsOf } from './docs.ts';
import { meta } from './words.ts';

/** What Kubernetes adds to the schema of a custom resource: apiVersion, kind and metadata in its own words. */

export const conventions =
  'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

const metadataWords = {
  ObjectMeta: `Standard object's metadata. More info: ${conventions}#metadata`,
  ListMeta: `Standard list metadata. More info: ${conventions}#types-kinds`,
};

const embeddedWords = {
  apiVersion: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  kind: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
};

/** Of a whole object or list; a built-in kind has the same. */
export function headOf(metadata: keyof typeof metadataWords, dialect: Dialect): JsonObject {
  const { fields } = docsOf('io.k8s.api.core.v1.ConfigMap');
  const words = (name: string): JsonObject => ({ description: fields.get(name) ?? '', type: 'string' });
  return {
    apiVersion: words('apiVersion'),
    kind: words('kind'),
    metadata: metadataOf(metadata, dialect),
  };
}

/** Of an object inside another. */
export function embeddedHead(dialect: Dialect): JsonObject {
  return {
    apiVersion: { description: embeddedWords.apiVersion, type: 'string' },
    kind: { description: embeddedWords.kind, type: 'string' },
    metadata: metadataOf('ObjectMeta', dialect),
  };
}

/** OpenAPI 3.0 ignores what stands beside a reference. */
function metadataOf(kind: keyof typeof metadataWords, { version, prefix }: Dialect): JsonObject {
  const ref = { $ref: `${prefix}${meta}.${kind}` };
  return { description: metadataWords[kind], ...(version === 2 ? ref : { allOf: [ref] }) };
}
