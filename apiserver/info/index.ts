import { rootCluster } from '../../cluster/names.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { Exchange } from '../core.ts';
import { checkAccept } from '../encode/negotiate.ts';
import { jsonBytes, methodNotAllowed } from '../encode/respond.ts';
import { text } from '../encode/text.ts';
import { handleDiscovery } from './discovery.ts';
import { handleHealth } from './health.ts';
import { handleIssuer } from './issuer.ts';
import { handleMetrics, metricsPath, slisPath } from './metrics.ts';
import { handleOpenApi } from './openapi.ts';
import { handleVersion } from './version.ts';

/** Everything that is about no resource. */
export async function handleInfo(exchange: Exchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  const { path } = info;
  const health = handleHealth(exchange);
  if (health) return health;
  const metrics = handleMetrics(exchange);
  if (metrics) return metrics;
  if (info.method !== 'GET' && isDocument(path, info.method)) throw methodNotAllowed();
  if (info.method !== 'GET' && info.method !== 'HEAD') return text(404, '404 page not found\n');
  if (path === '/version') {
    checkAccept(exchange.request.headers, ['application/json']);
    return handleVersion(core.gitVersion);
  }
  if (path === '/') return paths(exchange);
  return (
    (/^\/apis\/[^/]+\/[^/]+$/.test(path) ? await core.aggregation.handle(exchange) : undefined) ??
    (await handleDiscovery(exchange)) ??
    (await handleOpenApi(exchange)) ??
    handleIssuer(exchange) ??
    text(404, '404 page not found\n')
  );
}

/** What has a route of its own there, that knows of GET alone. */
function isDocument(path: string, method: string): boolean {
  if (path === '/openid/v1/jwks' || path === '/.well-known/openid-configuration') return true;
  // That of a group's versions is a handler which asks for no method.
  if (method === 'HEAD' && /^\/apis\/[^/]+\/?$/.test(path)) return false;
  return path === '/version' || path === '/api' || path.startsWith('/api/') || path.startsWith('/apis/');
}

async function paths({ core, info, user }: Exchange): Promise<ApiResponse> {
  const others = isOwnController(user) ? [] : await core.aggregation.others(info.cluster);
  const all = new Set([
    ...(core.tokens ? ['/.well-known/openid-configuration', '/openid/v1/jwks'] : []),
    '/api',
    '/apis',
    '/healthz',
    '/livez',
    ...(core.metrics && info.cluster === rootCluster ? [metricsPath, slisPath] : []),
    '/openapi/v2',
    '/openapi/v3',
    '/readyz',
    '/version',
  ]);
  for (const { group, version } of [...core.catalog.infos(info.cluster), ...others]) {
    if (group === '') all.add(`/api/${version}`);
    else all.add(`/apis/${group}`).add(`/apis/${group}/${version}`);
  }
  return jsonBytes(200, Buffer.from(`${JSON.stringify({ paths: [...all].sort() }, undefined, 2)}`));
}
