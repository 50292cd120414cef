import type { ApiResponse } from '../../kube/http.ts';
import { badRequest } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { answerHeaders, upgradeHeaders } from '../wire/upgrade-headers.ts';
import { refuseStream } from './pods/streams.ts';

/**
 * pods/exec, attach and portforward: a connection to the API that runs the pod, byte for byte, in whatever protocol the
 * client and that API agree on. https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming
 */
export async function handleConnect(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored, request } = exchange;
  const pod = decodeStored(await core.registry.read(stored, info));
  const connection = await core.connectPod?.(info.cluster, pod);
  if (connection === undefined) refuseStream(pod, info.subresource, info.query);
  if (request.headers['upgrade'] === undefined) throw badRequest('Upgrade request required');
  const mark = request.url.indexOf('?');
  const response = await connection.transport({
    method: request.method,
    url: `${connection.path}/${info.subresource}${mark < 0 ? '' : request.url.slice(mark)}`,
    headers: upgradeHeaders(request.headers),
    ...(request.signal && { signal: request.signal }),
  });
  return { ...response, headers: answerHeaders(response) };
}
