import { isObject } from '../../kube/deep.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { parseBody } from '../decode/body.ts';
import { bodyEncoding } from '../decode/media.ts';
import { respondValue } from '../encode/respond.ts';
import { decodeStored } from '../registry/codec.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { deleteOne } from './deleteone.ts';

/** GET pods/log: from the API that runs the pod, as it streams. */
export async function handleLog(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored, request } = exchange;
  const pod = decodeStored(await core.registry.read(stored, info));
  const connection = await core.connectPod?.(info.cluster, pod);
  if (connection === undefined) {
    const why = `pod ${info.name} runs on no cluster whose logs can be read`;
    throw badRequest(why);
  }
  const mark = request.url.indexOf('?');
  const query = mark < 0 ? '' : request.url.slice(mark);
  const accept = request.headers['accept'];
  const response = await connection.transport({
    method: 'GET',
    url: `${connection.path}/log${query}`,
    headers: accept ? { accept } : {},
    ...(request.signal && { signal: request.signal }),
  });
  return { status: response.status, headers: contentType(response), body: response.body };
}

/**
 * A reflected pod is deleted where it runs; what is shown here goes when its syncer says so. `undefined`: it runs
 * nowhere, delete it here.
 */
export async function deleteRunningPod(
  exchange: ResourceExchange,
  options: DeleteOptions,
): Promise<ApiResponse | undefined> {
  const { core, info, stored } = exchange;
  if (core.connectPod === undefined || options.dryRun) return undefined;
  const pod = decodeStored(await core.registry.read(stored, info));
  if (options.uid !== undefined && options.uid !== pod.metadata.uid) return undefined;
  const connection = await core.connectPod(info.cluster, pod);
  if (connection === undefined) return undefined;
  const grace = options.gracePeriodSeconds;
  const response = await connection.transport({
    method: 'DELETE',
    url: connection.path,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...(grace !== undefined && { gracePeriodSeconds: grace }),
        ...(options.propagationPolicy && { propagationPolicy: options.propagationPolicy }),
      }),
    ),
  });
  if (response.status === 404) return undefined;
  if (response.status >= 400) return { ...response, headers: contentType(response) };
  return respondValue(exchange, 200, pod);
}

function contentType(response: ApiResponse): Record<string, string | string[]> {
  const type = response.headers['content-type'];
  return type === undefined ? {} : { 'content-type': type };
}

/** POST pods/eviction: a deletion. PodDisruptionBudgets are the physical clusters' to keep. */
export async function handleEviction(exchange: ResourceExchange): Promise<ApiResponse> {
  const { request, info } = exchange;
  const encoding = bodyEncoding(request.headers['content-type'], undefined);
  const expected = { group: 'policy', version: 'v1', kind: 'Eviction' };
  const { value } = parseBody(request.body ?? new Uint8Array(), encoding, expected);
  const given = isObject(value['deleteOptions']) ? value['deleteOptions'] : {};
  const options: DeleteOptions = {
    ...(typeof given['gracePeriodSeconds'] === 'number' && {
      gracePeriodSeconds: given['gracePeriodSeconds'],
    }),
    dryRun: info.query.getAll('dryRun').includes('All'),
  };
  const forwarded = await deleteRunningPod(exchange, options);
  if (forwarded && forwarded.status >= 400) return forwarded;
  if (!forwarded) await deleteOne(exchange, info.name, options);
  return respondValue(exchange, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
  });
}

/** POST pods/binding: names the node. */
export async function handleBinding(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, request, info } = exchange;
  const encoding = bodyEncoding(request.headers['content-type'], undefined);
  const expected = { group: '', version: 'v1', kind: 'Binding' };
  const { value } = parseBody(request.body ?? new Uint8Array(), encoding, expected);
  const target = isObject(value['target']) ? value['target'] : {};
  const node = target['name'];
  if (typeof node !== 'string' || node === '') throw badRequest('target.name: Required value');
  const bound = (pod: KubeObject): KubeObject => {
    const spec = pod.spec as { nodeName?: string };
    if (spec.nodeName) {
      const message = `Operation cannot be fulfilled on pods/binding "${info.name}": pod ${info.name} is already assigned to node "${spec.nodeName}"`;
      throw new StatusError(409, 'Conflict', message, { name: info.name, kind: 'pods/binding' });
    }
    return { ...pod, spec: { ...spec, nodeName: node } };
  };
  const at = {
    cluster: info.cluster,
    namespace: info.namespace,
    name: info.name,
    group: '',
    resource: 'pods',
  };
  await core.registry.update(at, bound, { subresource: 'binding' });
  return respondValue(exchange, 201, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
  });
}
