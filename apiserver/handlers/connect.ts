import type { ApiResponse } from '../../kube/http.ts';
import { badRequest } from '../../kube/status.ts';
import { bearerProtocol } from '../authn/bearer.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { refuseStream } from './pod-stream.ts';

/** What the two ends of a WebSocket or of SPDY/3.1 agree by. */
const asked = [
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'x-stream-protocol-version',
];
const agreed = [
  'upgrade',
  'connection',
  'sec-websocket-accept',
  'sec-websocket-protocol',
  'sec-websocket-extensions',
  'x-stream-protocol-version',
];

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

/** What goes on to the other API of a request that asks for an upgrade. Never the caller's secrets. */
export function upgradeHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = pick(headers, asked) as Record<string, string>;
  const protocols = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !protocol.startsWith(bearerProtocol));
  if (protocols.length > 0) sent['sec-websocket-protocol'] = protocols.join(', ');
  return sent;
}

export function answerHeaders({ status, headers }: ApiResponse): ApiResponse['headers'] {
  return pick(headers, status === 101 ? agreed : ['content-type']);
}

function pick<T>(from: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  const picked: Record<string, T> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
