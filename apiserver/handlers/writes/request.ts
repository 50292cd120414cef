import { deepCopy } from '../../../kube/deep.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { badRequest } from '../../../kube/status.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { ResourceExchange } from '../../core.ts';
import { decodeBody } from '../../decode/body.ts';
import { bodyEncoding } from '../../decode/media.ts';
import type { WriteQuery } from '../../decode/options.ts';
import { defaulted } from '../../registry/context.ts';

/** The request's body as an object of the URL's kind and version. */
export function decodeRequest(exchange: ResourceExchange, query: WriteQuery): KubeObject {
  const { request, served, user } = exchange;
  const encoding = bodyEncoding(request.headers['content-type'], served);
  const object = decodeBody(request.body ?? new Uint8Array(), encoding, served, {
    validation: query.validation,
    deep: isOwnController(user),
    ...countsOf(exchange),
    warn: (message) => exchange.warnings.add(message),
  });
  // It is recorded as kube-apiserver has it after decoding.
  exchange.audit?.sent(object, () => defaulted(deepCopy(object as never), served));
  return object;
}

/** Where a custom resource counts what its Scale is made of, and may be written by this request. */
export function countsOf({ info, served }: ResourceExchange): { counts?: readonly string[] } {
  const scale = served.custom ? served.subresources?.scale : undefined;
  if (scale === undefined) return {};
  const { specReplicasPath, statusReplicasPath } = scale;
  if (info.subresource === 'status') return { counts: [statusReplicasPath] };
  const hasStatus = served.info.subresources.some(({ name }) => name === 'status');
  return { counts: hasStatus ? [specReplicasPath] : [specReplicasPath, statusReplicasPath] };
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

/** What is sent names itself, and so does what is applied where nothing is yet. */
export function requireName(exchange: ResourceExchange, object: KubeObject): void {
  if (object.metadata.name) {
    checkName(exchange, object);
    return;
  }
  const where = `the name of the object (${exchange.info.name} based on URL) was undeterminable`;
  throw badRequest(`${where}: name must be provided`);
}

export function checkName({ info }: ResourceExchange, object: KubeObject): void {
  const { name } = object.metadata;
  if (name === undefined || name === '') {
    object.metadata.name = info.name;
  } else if (name !== info.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
  }
}
