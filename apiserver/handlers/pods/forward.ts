import { isReflected } from '../../../cluster/reflected.ts';
import type { ApiResponse, Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ResourceExchange } from '../../core.ts';
import type { DeleteOptions } from '../../registry/types.ts';
import { contentType } from './answer.ts';
import { untilLetGo } from './let-go.ts';

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

/** The physical cluster's own answer to the eviction of a pod that runs there: its budgets count. */
export async function evictRunningPod(
  exchange: ResourceExchange,
  pod: KubeObject,
  deleteOptions: object,
  { dryRun, uid }: DeleteOptions,
): Promise<ApiResponse | undefined> {
  const { core, info } = exchange;
  const connection = await core.connectPod?.(info.cluster, pod);
  if (connection === undefined || (uid !== undefined && uid !== pod.metadata.uid)) return undefined;
  if (!dryRun && isReflected(pod)) await untilLetGo(exchange, pod, connection);
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
        kind: 'Eviction',
        apiVersion: 'policy/v1',
        metadata: { name, namespace },
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
