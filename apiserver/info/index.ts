import { rootCluster } from '../../cluster/names.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { isOwnController } from '../authn/controllers.ts';
import { issuerPaths } from '../authn/issuer.ts';
import type { Exchange } from '../core.ts';
import { checkAccept } from '../encode/negotiate.ts';
import { jsonBytes, methodNotAllowed } from '../encode/respond.ts';
import { text } from '../encode/text.ts';
import type { Catalog } from '../registry/catalog.ts';
import { bareOf } from '../request.ts';
import type { ServedResource } from '../served.ts';
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
  if (info.method !== 'GET' && knowsGetAlone(path, core.catalog, info.cluster)) throw methodNotAllowed();
  if (bareOf(path) === '/version') {
    checkAccept(exchange.request.headers, ['application/json']);
    return handleVersion(core.gitVersion);
  }
  if (path === '/') return paths(exchange);
  return (
    (/^\/apis\/[^/]+\/[^/]+\/?$/.test(path) ? await core.aggregation.handle(exchange) : undefined) ??
    (await handleDiscovery(exchange)) ??
    (await handleOpenApi(exchange)) ??
    handleIssuer(exchange) ??
    text(404, '404 page not found\n')
  );
}

/** What has a route of its own there. All else is a handler, which asks for no method: it answers each as GET. */
function knowsGetAlone(path: string, catalog: Catalog, cluster: string): boolean {
  if (alone.has(bareOf(path))) return true;
  const [, root, first = '', second = '', ...more] = path.split('/');
  if (more.some((part) => part !== '')) return false;
  const [group, version] = root === 'api' ? ['', first] : [first, second];
  // With more slashes than one behind it a group has a route, too.
  const isGroup = version === '' && more.length > 0;
  const isBuiltIn = ({ info, custom }: ServedResource) =>
    !custom && info.group === group && (isGroup || info.version === version);
  return (root === 'api' || (root === 'apis' && group !== '')) && catalog.resources(cluster).some(isBuiltIn);
}

const alone = new Set([issuerPaths.keys, issuerPaths.configuration, '/version', '/api']);

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
