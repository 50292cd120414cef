import { deepest, isDeeper } from '../../kube/depth.ts';
import { formatApiVersion } from '../../kube/gvk.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { encodeJson } from '../../kube/json.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { encodeProtobuf, protobufMediaType } from '../../kube/protobuf/codec.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import { encodeYaml } from '../../kube/yaml.ts';
import type { Exchange, ResourceExchange } from '../core.ts';
import type { Encoding } from '../decode/media.ts';
import { fromStored, isStored } from '../registry/convert.ts';
import type { ServedResource } from '../served.ts';
import { clustersOf, saysClusters } from './clusters-column.ts';
import { choose, type Form, negotiate, notAcceptable, offerOf, plainOffer } from './negotiate.ts';
import { partial } from './partial.ts';
import { type IncludeObject, tableOf } from './table.ts';

export const contentTypes: Readonly<Record<Encoding, string>> = {
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

/** Throws StatusError 406. */
export function formOf(exchange: ResourceExchange): Form {
  const { request, info, served } = exchange;
  const offer = offerOf(served, info.verb === 'watch', info.subresource);
  return negotiate(request.headers, info.query, offer);
}

/** What is asked for is what is stored: its bytes are the answer. */
export function isAsStored(form: Form, served: ServedResource): boolean {
  return form.encoding === 'json' && form.shape === 'object' && !form.pretty && isStored(served);
}

/** One object as it is stored, in the version, shape and encoding that the client asked for. */
export function respondObject(
  exchange: ResourceExchange,
  status: number,
  stored: KubeObject,
): Later<ApiResponse> {
  const object = fromStored(stored, exchange.served);
  const form = formOf(exchange);
  if (!saysClusters(exchange, form)) return encoded(status, shapeObject(exchange, object, form), form);
  return clustersOf(exchange, [object]).then((clusters) =>
    encoded(status, shapeObject(exchange, object, form, clusters), form),
  );
}

export function shapeObject(
  exchange: ResourceExchange,
  object: KubeObject,
  form: Form,
  clusters?: readonly string[],
): Kinded {
  if (form.shape === 'object') return object;
  if (form.shape === 'PartialObjectMetadata') {
    if (form.list) {
      if (exchange.served.custom) throw new StatusError(500, '', 'content is not a list');
      const type = goType(exchange, '');
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
      );
    }
    return partial(object, form.version);
  }
  return {
    ...tableOf(exchange.served, [object], {
      version: form.version,
      include: includeOf(exchange),
      metadata: { resourceVersion: object.metadata.resourceVersion },
      now: new Date(),
      clusters,
    }),
  };
}

/** An answer of any other kind: a Status, a Scale, a review. */
export function respondValue(exchange: Exchange, status: number, value: Kinded): ApiResponse {
  const form = plainForm(exchange);
  return encoded(status, value, form);
}

/** An object that is stored nowhere, of the kind that was sent: a review. `form` is asked for before there is one. */
export function respondAnswer(exchange: ResourceExchange, form: Form, object: KubeObject): ApiResponse {
  return encoded(201, shapeObject(exchange, object, form), form);
}

/** For what has no Table: the encoding that the client takes, indented JSON when it takes none of ours. */
function plainForm({ request, info }: Exchange): Form {
  return (
    choose(request.headers, info.query, plainOffer) ?? {
      encoding: 'json',
      shape: 'object',
      version: 'v1',
      pretty: true,
    }
  );
}

/** What kube-apiserver calls the kind inside: `*core.Secret`. */
export function goType({ served }: ResourceExchange, suffix: string): string {
  if (served.custom) return `*unstructured.Unstructured${suffix}`;
  const { group, kind } = served.info;
  const name = group === '' || group === 'events.k8s.io' ? 'core' : (group.split('.')[0] ?? '');
  return `*${name}.${kind}${suffix}`;
}

export function encoded(status: number, value: Kinded, form: Form): ApiResponse {
  return {
    status,
    headers: { 'content-type': contentTypes[form.encoding] },
    body: encodeAs(value, form),
  };
}

/** As deep as what is stored, with what a list puts around it: what was stored deeper before would be more blanks than text. */
const deepestInYaml = deepest;
const tooDeep = 'it nests in too many levels to be written as YAML: ask for application/json';

export function encodeAs(value: Kinded, form: Form): Uint8Array {
  if (form.encoding === 'protobuf') return encodeProtobuf(value);
  if (form.encoding === 'yaml') {
    if (isDeeper(value, deepestInYaml)) throw new StatusError(406, 'NotAcceptable', tooDeep);
    return Buffer.from(encodeYaml(value));
  }
  if (form.pretty) {
    try {
      return Buffer.from(JSON.stringify(value, undefined, 2));
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
  const why = `Invalid value: ${JSON.stringify(given)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: includeObject: ${why}`);
}

export function listKind(exchange: ResourceExchange): { kind: string; apiVersion: string } {
  const { info, listKind = `${info.kind}List` } = exchange.served;
  return { kind: listKind, apiVersion: formatApiVersion(info) };
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
