import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { badRequest } from '../../kube/status.ts';
import type { Entry } from '../../storage/store.ts';
import { admissionFor } from '../admission/chain.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeBody } from '../decode/body.ts';
import { bodyEncoding } from '../decode/media.ts';
import { type WriteQuery, writeQuery } from '../decode/options.ts';
import { formOf, isAsStored, jsonBytes, respondObject } from '../encode/respond.ts';
import { answerStored } from '../registry/codec.ts';
import { toStored } from '../registry/convert.ts';
import { createObject } from '../registry/create.ts';

export async function handleCreate(exchange: ResourceExchange): Promise<ApiResponse> {
  const form = formOf(exchange);
  const query = writeQuery(exchange, 'CreateOptions');
  const object = decodeRequest(exchange, query);
  checkNamespace(exchange, object);
  const { core, info, stored, served } = exchange;
  let entry: Entry | undefined;
  const created = await createObject(core.registry, stored, info, toStored(object, served), {
    ...writeContext(exchange, query, 'CREATE'),
    refuseVersion: true,
    owned: true,
    stored: (written) => {
      entry = written;
    },
  });
  if (entry !== undefined && isAsStored(form, served)) return jsonBytes(201, answerStored(entry));
  return respondObject(exchange, 201, created);
}

export function writeContext(
  exchange: ResourceExchange,
  query: WriteQuery,
  operation: 'CREATE' | 'UPDATE',
  subresource = '',
) {
  const admission = admissionFor(exchange, operation, query.dryRun);
  return {
    manager: query.manager,
    dryRun: query.dryRun,
    subresource,
    requested: exchange.served,
    mutate: admission.mutate,
    validate: admission.validate,
    user: exchange.user,
    // A write that is tried again says the same again.
    warn: (message: string) => {
      if (!exchange.warnings.includes(message)) exchange.warnings.push(message);
    },
  };
}

/** The request's body as an object of the URL's kind and version. */
export function decodeRequest(exchange: ResourceExchange, query: WriteQuery): KubeObject {
  const { request, served } = exchange;
  const encoding = bodyEncoding(request.headers['content-type'], served);
  return decodeBody(request.body ?? new Uint8Array(), encoding, served, {
    validation: query.validation,
    warn: (message) => exchange.warnings.push(message),
  });
}

/** The URL's namespace is the object's; cluster-scoped objects have none. */
export function checkNamespace({ info, served }: ResourceExchange, object: KubeObject): void {
  const { namespace } = object.metadata;
  if (namespace === undefined || namespace === '') return;
  if (!served.info.namespaced) delete object.metadata.namespace;
  else if (namespace !== info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
