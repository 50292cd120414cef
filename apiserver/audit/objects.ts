import type { ApiResponse } from '../../kube/http.ts';
import { decodeJson, encodeJson } from '../../kube/json.ts';
import { decodeProtobuf, protobufMediaType } from '../../kube/protobuf/codec.ts';
import { isRecord } from '../../kube/untyped.ts';
import { decodeYaml } from '../../kube/yaml.ts';
import { yamlText } from '../../kube/yaml-text.ts';
import type { RequestInfo } from '../request.ts';

/**
 * What an answer's body says, as JSON on one line; undefined where it is no object. JSON of our own is taken to be what it
 * should be; what others made is made anew: what is none would say whatever it likes of the event around it.
 */
export function jsonOf(
  type: string,
  body: Uint8Array,
  { omitManagedFields = false, isOwn = true }: { omitManagedFields?: boolean; isOwn?: boolean } = {},
): string | undefined {
  try {
    const text =
      isOwn && type.startsWith('application/json') ? Buffer.from(body).toString().trimEnd() : undefined;
    const plain =
      text !== undefined && !text.includes('\n') && !(omitManagedFields && text.includes('managedFields'));
    if (plain) return text.startsWith('{') ? text : undefined;
    const value = parsedOf(type, body);
    return isRecord(value) ? encodeJson(omitManagedFields ? withoutManagedFields(value) : value) : undefined;
  } catch {
    return undefined;
  }
}

function parsedOf(type: string, body: Uint8Array): unknown {
  if (type.startsWith('application/json')) return decodeJson(body).value;
  if (type.startsWith('application/yaml')) return decodeYaml(yamlText(body)).value;
  return type.startsWith(protobufMediaType) ? decodeProtobuf(body) : undefined;
}

/** Of an object, of those of a list and of the rows of a Table. */
export function withoutManagedFields(value: Record<string, unknown>): Record<string, unknown> {
  const { metadata, items, rows } = value;
  const inside = (one: unknown) => (isRecord(one) ? withoutManagedFields(one) : one);
  const row = (one: unknown) =>
    isRecord(one) && isRecord(one['object']) ? { ...one, object: withoutManagedFields(one['object']) } : one;
  const { managedFields: _, ...rest } = isRecord(metadata) ? metadata : {};
  return {
    ...value,
    ...(isRecord(metadata) && { metadata: rest }),
    ...(Array.isArray(items) && { items: items.map(inside) }),
    ...(Array.isArray(rows) && { rows: rows.map(row) }),
  };
}

/** What an event says of an answer: its code and, of a Status, what that says. */
export function responseStatus(code: number, status: string | undefined, secret: boolean): string {
  if (status === undefined && code === 200) return '{"metadata":{},"code":200}';
  const value = status === undefined ? undefined : (JSON.parse(status) as Record<string, unknown>);
  if (value === undefined || value['kind'] !== 'Status') return `{"metadata":{},"code":${code}}`;
  const { status: result, message, reason, details } = value;
  // A message may quote what was sent.
  const told = secret ? { reason } : { message, reason, details };
  return JSON.stringify({ metadata: {}, status: result, ...told, code });
}

/** Whether a Status may be there that an event tells of at any level. */
export function mayBeStatus({ status, body }: ApiResponse, { verb }: RequestInfo): boolean {
  return body instanceof Uint8Array && (status >= 400 || verb === 'delete') && body.length < 64 * 1024;
}

/**
 * Whether this server made the answer. What is connected, proxied, evicted or deleted may be on a physical cluster, whose
 * answers are those of whoever runs there.
 */
export function answersItself({ isResource, verb, subresource }: RequestInfo): boolean {
  return !isResource || (subresource === '' && !verb.startsWith('delete'));
}

/** Requests and answers that are tokens. */
export function areTokens({ group, resource, subresource }: RequestInfo): boolean {
  return group === 'authentication.k8s.io'
    ? resource === 'tokenreviews'
    : group === '' && resource === 'serviceaccounts' && subresource === 'token';
}
