import { isReflected } from '../../cluster/reflected.ts';
import type { ApiResponse, Transport } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { badRequest } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { respondValue } from '../encode/respond.ts';
import { decodeStored } from '../registry/codec.ts';
import type { DeleteOptions } from '../registry/types.ts';
import { checkContainer, checkLogOptions, hasNode } from './podstream.ts';

/** GET pods/log: from the API that runs the pod, as it streams. */
export async function handleLog(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored, request } = exchange;
  checkLogOptions(info.name, info.query);
  const pod = decodeStored(await core.registry.read(stored, info));
  const connection = await core.connectPod?.(info.cluster, pod);
  if (connection === undefined) {
    checkContainer(pod, info.query.get('container') ?? '');
    if (!hasNode(pod)) return { status: 204, headers: {}, body: new Uint8Array() };
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
 * A reflected pod, or claim, is deleted where it runs; what is shown here goes when its syncer says so. `undefined`: it runs
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
  // A placed Pod runs somewhere, too; a placed claim goes by its share.
  if (stored.info.resource !== 'pods' && !isReflected(pod)) return undefined;
  const connection = await core.connectPod(info.cluster, pod);
  if (connection === undefined) return undefined;
  const response = await forwardDelete(connection, options);
  if (response.status === 404) return undefined;
  if (response.status >= 400) return { ...response, headers: contentType(response) };
  return respondValue(exchange, 200, pod);
}

export function forwardDelete(
  { transport, path }: { transport: Transport; path: string },
  { gracePeriodSeconds: grace, propagationPolicy: policy }: DeleteOptions,
): Promise<ApiResponse> {
  return transport({
    method: 'DELETE',
    url: path,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        ...(grace !== undefined && { gracePeriodSeconds: grace }),
        ...(policy && { propagationPolicy: policy }),
      }),
    ),
  });
}

export function contentType(response: ApiResponse): Record<string, string | string[]> {
  const type = response.headers['content-type'];
  return type === undefined ? {} : { 'content-type': type };
}

/** The physical cluster's own answer to the eviction of a pod that runs there: its budgets count. */
export async function evictRunningPod(
  { core, info }: ResourceExchange,
  pod: KubeObject,
  deleteOptions: object,
  { dryRun, uid }: DeleteOptions,
): Promise<ApiResponse | undefined> {
  const connection = await core.connectPod?.(info.cluster, pod);
  if (connection === undefined || (uid !== undefined && uid !== pod.metadata.uid)) return undefined;
  const [name = '', namespace = ''] = connection.path
    .split('/')
    .filter((_, i) => i === 4 || i === 6)
    .reverse();
  const { preconditions: _ours, ...rest } = deleteOptions as { preconditions?: unknown };
  const response = await connection.transport({
    method: 'POST',
    url: `${connection.path}/eviction${dryRun ? '?dryRun=All' : ''}`,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: Buffer.from(
      JSON.stringify({
        ...{ kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name, namespace } },
        deleteOptions: rest,
      }),
    ),
  });
  const retry = response.headers['retry-after'];
  return response.status === 404
    ? undefined
    : {
        ...response,
        headers: { ...contentType(response), ...(retry !== undefined && { 'retry-after': retry }) },
      };
}
