import { protobufMediaType } from '../../kube/protobuf/codec.ts';
import { StatusError } from '../../kube/status.ts';
import type { ServedResource } from '../served.ts';

export type Encoding = 'json' | 'yaml' | 'protobuf';

const encodings: Readonly<Record<string, Encoding>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  [protobufMediaType]: 'protobuf',
};

/** What kube-apiserver says that it takes and gives, of custom resources, too, of which there is no protobuf. */
export const mediaTypes: readonly string[] = Object.keys(encodings);

/** The encoding of a body; JSON when the client does not say. Throws StatusError 415. */
export function bodyEncoding(contentType: string | undefined, served: ServedResource | undefined): Encoding {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() || 'application/json';
  const encoding = Object.hasOwn(encodings, type) ? encodings[type] : undefined;
  if (encoding !== undefined && (encoding !== 'protobuf' || !served?.custom)) return encoding;
  const accepted = mediaTypes.join(', ');
  throw new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}
