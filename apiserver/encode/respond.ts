import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { encodeProtobuf, protobufMediaType } from '../../kube/protobuf/codec.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import { encodeYaml } from '../../kube/yaml.ts';
import type { Exchange, ResourceExchange } from '../core.ts';
import type { Encoding } from '../decode/media.ts';
import { fromStored } from '../registry/convert.ts';
import { type Form, negotiate } from './negotiate.ts';
import { partial } from './partial.ts';
import { type IncludeObject, tableOf } from './table.ts';

const contentTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: protobufMediaType,
};

/** Anything that names its kind. */
export interface Kinded {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
}

export function formOf(exchange: Exchange & { served?: ResourceExchange['served'] }): Form {
  const { request, info } = exchange;
  return negotiate(request.headers, info.query, exchange.served);
}

/** One object as it is stored, in the version, shape and encoding that the client asked for. */
export function respondObject(exchange: ResourceExchange, status: number, stored: KubeObject): ApiResponse {
  const object = fromStored(stored, exchange.served);
  const form = formOf(exchange);
  return encoded(status, shapeObject(exchange, object, form), form);
}

export function shapeObject(exchange: ResourceExchange, object: KubeObject, form: Form): Kinded {
  if (form.shape === 'PartialObjectMetadata') return partial(object, form.version);
  if (form.shape === 'object') return object;
  return {
    ...tableOf(exchange.served, [object], {
      version: form.version,
      include: includeOf(exchange),
      metadata: { resourceVersion: object.metadata.resourceVersion },
      now: new Date(),
    }),
  };
}

/** An answer of any other kind: a Status, a Scale, a review. */
export function respondValue(exchange: Exchange, status: number, value: Kinded): ApiResponse {
  const form = plainForm(exchange);
  return encoded(status, value, form);
}

/** For what has no Table: the encoding that the client takes, JSON when it takes none of ours. */
function plainForm(exchange: Exchange): Form {
  const { headers } = exchange.request;
  try {
    return {
      ...negotiate({ ...headers, accept: plainAccept(headers['accept']) }, exchange.info.query, undefined),
    };
  } catch {
    return { encoding: 'json', shape: 'object', version: 'v1', pretty: false };
  }
}

function plainAccept(accept: string | undefined): string {
  return (accept ?? '').includes('application/yaml') ? 'application/yaml' : 'application/json';
}

export function encoded(status: number, value: Kinded, form: Form): ApiResponse {
  return {
    status,
    headers: { 'content-type': contentTypes[form.encoding] },
    body: encodeAs(value, form),
  };
}

export function encodeAs(value: Kinded, form: Form): Uint8Array {
  if (form.encoding === 'protobuf') return encodeProtobuf(value);
  if (form.encoding === 'yaml') return Buffer.from(encodeYaml(value));
  if (form.pretty) {
    try {
      return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
    } catch {
      return Buffer.from(encodeJson(value));
    }
  }
  return Buffer.from(`${encodeJson(value)}\n`);
}

export function jsonBytes(status: number, body: Uint8Array): ApiResponse {
  return { status, headers: { 'content-type': contentTypes.json }, body };
}

/** As jsonBytes, for what is made while it is sent; `length` is known before. */
export function jsonStream(status: number, length: number, body: AsyncIterable<Uint8Array>): ApiResponse {
  return { status, headers: { 'content-type': contentTypes.json, 'content-length': String(length) }, body };
}

export function includeOf(exchange: Exchange): IncludeObject {
  const given = exchange.info.query.get('includeObject') || 'Metadata';
  if (given === 'None' || given === 'Metadata' || given === 'Object') return given;
  throw badRequest(
    `unrecognized includeObject value: ${JSON.stringify(given)}: must be one of "None", "Metadata", "Object"`,
  );
}

export function listKind(exchange: ResourceExchange): { kind: string; apiVersion: string } {
  const { info } = exchange.served;
  return { kind: `${info.kind}List`, apiVersion: formatApiVersion(info) };
}

/** Any failure as a metav1.Status. */
export function respondError(error: StatusError, exchange: Exchange | undefined): ApiResponse {
  const token = (error.cause as { continue?: unknown } | undefined)?.continue;
  const status: Kinded = {
    ...error.toStatus(),
    ...(typeof token === 'string' && { metadata: { continue: token } }),
  };
  const retry = error.details?.retryAfterSeconds;
  const response = exchange
    ? respondValue(exchange, error.code, status)
    : jsonBytes(error.code, Buffer.from(`${JSON.stringify(status)}\n`));
  if (retry !== undefined) response.headers['retry-after'] = String(retry);
  return response;
}

export function text(status: number, body: string): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: Buffer.from(body),
  };
}

export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );
}
