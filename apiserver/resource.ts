import { isBuiltinGroup } from '../kube/discovery/groups.ts';
import type { ApiResponse } from '../kube/http.ts';
import { looksForAuthentication } from './aggregation/publish.ts';
import type { Exchange } from './core.ts';
import { noSuchResource } from './encode/respond.ts';
import { text } from './encode/text.ts';
import { handlerFor, noSuchMetrics } from './handlers/dispatch.ts';
import { handleInfo } from './info/index.ts';
import { showDefaults } from './registry/kinds/default-objects.ts';
import { definedLately } from './registry/kinds/definitions.ts';
import type { ServedResource } from './served.ts';

/** What a request past all rungs comes to: about a resource that is served here, or by another API server, or about none. */
export function handle(exchange: Exchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  if (!info.isResource) return handleInfo(exchange);
  if (looksForAuthentication(info)) {
    return core.aggregation.publish(info).then(() => onServed(exchange));
  }
  return onServed(exchange);
}

function onServed(exchange: Exchange): Promise<ApiResponse> {
  const { core, info } = exchange;
  const served = core.catalog.find(info.cluster, info.group, info.version, info.resource);
  if (served !== undefined) return handleServed(exchange, served);
  return definedLately(core, info).then((late) => {
    if (late !== undefined) return handleServed(exchange, late);
    const metrics = noSuchMetrics(info);
    if (metrics || isBuiltinGroup(info.group)) throw metrics ?? noSuchResource();
    return aggregated(exchange);
  });
}

async function aggregated(exchange: Exchange): Promise<ApiResponse> {
  return (await exchange.core.aggregation.handle(exchange)) ?? text(404, '404 page not found\n');
}

function handleServed(exchange: Exchange, served: ServedResource): Promise<ApiResponse> {
  const { audit, info, request } = exchange;
  // What is proxied is its two ends' alone.
  if (audit && info.verb === 'patch' && info.subresource !== 'proxy')
    audit.patched(request.body, request.headers['content-type']);
  const found = handlerFor(exchange, served);
  const showing = showDefaults(found.exchange);
  return showing ? showing.then(() => found.handle(found.exchange)) : found.handle(found.exchange);
}
