import type { ApiResponse } from '../../kube/http.ts';
import { badRequest, forbidden } from '../../kube/status.ts';
import { attributesOf } from '../authz/check.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { answerHeaders, upgradeHeaders } from '../wire/upgrade-headers.ts';
import { connectOptions, queryOf, readQuery } from './pods/connect-options.ts';
import { checkPorts, refuseStream } from './pods/streams.ts';
import { admitConnection } from './writes/connecting.ts';

const kinds: Readonly<Record<string, string>> = {
  exec: 'PodExecOptions',
  attach: 'PodAttachOptions',
  portforward: 'PodPortForwardOptions',
};

/**
 * pods/exec, attach and portforward: a connection to the API that runs the pod, byte for byte, in whatever protocol the
 * client and that API agree on, and for what admission saw, whatever else the query said. https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming
 */
export async function handleConnect(exchange: ResourceExchange): Promise<ApiResponse> {
  const { core, info, stored, request } = exchange;
  const kind = kinds[info.subresource] ?? 'PodExecOptions';
  const query = readQuery(request.url);
  checkPorts(query);
  const options = connectOptions(kind, query);
  await mayConnect(exchange);
  await admitConnection(exchange, kind, options);
  const pod = decodeStored(await core.registry.read(stored, info));
  const connection = await core.connectPod?.(info.cluster, pod);
  if (connection === undefined) refuseStream(pod, info.subresource, query);
  if (request.headers['upgrade'] === undefined) throw badRequest('Upgrade request required');
  const response = await connection.transport({
    method: request.method,
    url: `${connection.path}/${info.subresource}${queryOf(options)}`,
    headers: { ...upgradeHeaders(request.headers), ...(request.auditId && { 'audit-id': request.auditId }) },
    // Who waits for a node takes none of the sockets of others, among them the syncer's.
    streams: true,
    ...(request.signal && { signal: request.signal }),
  });
  return { ...response, headers: answerHeaders(response) };
}

/** Whatever method opens it, a browser's GET too, it takes the verb that changes things. */
async function mayConnect({ core, info, served, user }: ResourceExchange): Promise<void> {
  if (info.verb === 'create') return;
  const { allowed, reason = '' } = await core.authorize({ ...attributesOf(info, user), verb: 'create' });
  if (!allowed) throw forbidden(served.info, info.name, reason);
}
