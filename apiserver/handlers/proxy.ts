import type { ApiRequest, ApiResponse, Transport } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { quoteGo } from '../../kube/quote.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import type { ResourceExchange } from '../core.ts';
import { decodeStored } from '../registry/codec.ts';
import { answerHeaders, upgradeHeaders } from '../wire/upgrade-headers.ts';
import { proxiedPath } from './pods/connect-options.ts';
import { admitConnection } from './writes/connecting.ts';

/** Meant for the two ends of one connection, or for us. */
const notForwarded = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'host',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * pods/proxy and services/proxy: the request as it is, to the API of the cluster that runs the pod or the Service, which
 * knows the way. The name may say a scheme and a port, too: `https:web:8443`.
 */
export async function handleProxy(exchange: ResourceExchange): Promise<ApiResponse> {
  const { info, request, stored } = exchange;
  const kind = stored.info.resource === 'pods' ? 'PodProxyOptions' : 'ServiceProxyOptions';
  const path = proxiedPath(tailOf(request.url).slice('/proxy'.length));
  await admitConnection(exchange, kind, { path });
  const connection = await connectionTo(exchange);
  const response = await connection.transport({
    method: request.method,
    url: connection.path.replace(/[^/]+$/, encodeURIComponent(info.name)) + tailOf(request.url),
    headers: forwarded(request),
    streams: true,
    ...(request.body && { body: request.body }),
    ...(request.signal && { signal: request.signal }),
  });
  if (response.tunnel) return { ...response, headers: answerHeaders(response) };
  // Of what HEAD asks about, its length is the answer.
  const isHead = request.method === 'HEAD';
  const headers = Object.entries(response.headers).filter(
    ([name]) => !notForwarded.has(name) || (isHead && name === 'content-length'),
  );
  return { ...response, headers: Object.fromEntries(headers) };
}

async function connectionTo(exchange: ResourceExchange): Promise<{ transport: Transport; path: string }> {
  const { core, info, stored } = exchange;
  const pods = stored.info.resource === 'pods';
  const { name, port } = targetOf(info.name) ?? {};
  if (name === undefined)
    throw badRequest(`invalid ${pods ? 'pod' : 'service'} request ${quoteGo(info.name)}`);
  const object = decodeStored(await core.registry.read(stored, { ...info, name }));
  const connection = await (pods
    ? core.connectPod?.(info.cluster, object)
    : core.connectService?.(info.cluster, object));
  if (connection !== undefined) return connection;
  if (pods)
    throw badRequest(
      hasAddress(object) ? `pod ${name} runs on no cluster that can be reached` : 'address not allowed',
    );
  const { ports = [] } = (object.spec ?? {}) as { ports?: { port?: number }[] };
  const unknown = /^\d+$/.test(port ?? '') && !ports.some((one) => one.port === Number(port));
  const why = unknown ? `no service port ${Number(port)} found` : 'no endpoints available';
  throw new StatusError(503, 'ServiceUnavailable', `${why} for service ${quoteGo(name)}`);
}

function hasAddress({ status }: KubeObject): boolean {
  return ((status as { podIPs?: unknown[] } | undefined)?.podIPs?.length ?? 0) > 0;
}

/** Of `name`, `name:port` or `scheme:name:port`; undefined for what is none of them. */
function targetOf(given: string): { name: string; port: string } | undefined {
  const parts = given.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme)) return undefined;
  return { name, port };
}

/** `/proxy` and all that follows, as it came. */
function tailOf(url: string): string {
  return (
    /^(?:\/clusters\/[^/]+)?\/api\/v1\/namespaces\/[^/]+\/[^/]+\/[^/]+(\/proxy.*)$/s.exec(url)?.[1] ??
    '/proxy'
  );
}

function forwarded({ headers, auditId }: ApiRequest): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !notForwarded.has(name) && !/^(sec-websocket|impersonate)-/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    ...(auditId && { 'audit-id': auditId }),
    ...(headers['upgrade'] && upgradeHeaders(headers)),
  };
}
