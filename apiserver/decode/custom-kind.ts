import { formatApiVersion } from '../../kube/gvk.ts';
import type { JsonObject } from '../../kube/object.ts';
import { badRequest, invalid, type StatusError } from '../../kube/status.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import type { ServedResource } from '../served.ts';
import { unrecognized } from './unrecognized.ts';

/** What is defined by a definition is taken for what it says it is: whoever sends one has to say so. */
export function requireNamed(value: JsonObject, body: Uint8Array, served: ServedResource): void {
  const [apiVersion = '', kind = ''] = ['apiVersion', 'kind'].map((name) =>
    String(getOwn(value, name) ?? ''),
  );
  const { info } = served;
  if (apiVersion.split('/').length > 2)
    throw unrecognized(info, `unexpected GroupVersion string: ${apiVersion}`, body);
  if (kind === '')
    throw unrecognized(info, `Object 'Kind' is missing in '${Buffer.from(body).toString()}'`, body);
  if (apiVersion === '') throw otherThan({ apiVersion, kind }, value, served);
}

/** A definition's handler reads whatever it is sent, and tells versions apart before it validates. */
export function otherThan(
  { apiVersion, kind }: { apiVersion: string; kind: string },
  { metadata = null }: JsonObject,
  { info }: ServedResource,
): StatusError {
  const expected = formatApiVersion(info);
  if (apiVersion !== expected)
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  const name = isRecord(metadata) ? String(getOwn(metadata, 'name') ?? '') : '';
  const message = `Invalid value: ${JSON.stringify(kind)}: must be ${info.kind}`;
  return invalid(info.group, kind, name, [{ reason: 'FieldValueInvalid', message, field: 'kind' }]);
}
