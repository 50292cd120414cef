import type { ApiResponse } from '../../kube/http.ts';
import { badRequest } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { contentType } from './pods/answer.ts';
import { checkContainer, checkLogOptions, hasNode } from './pods/streams.ts';

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
