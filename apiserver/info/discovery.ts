import { createHash } from 'node:crypto';
import {
  type AggregatedVersion,
  aggregatedContentType,
  aggregatedDiscovery,
} from '../../kube/discovery/aggregated.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../kube/discovery/legacy.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { Exchange } from '../core.ts';
import { parseAccept } from '../encode/negotiate.ts';
import { jsonBytes, noSuchResource, text } from '../encode/respond.ts';

/** /api, /apis and below, as far as they name no resource. `undefined`: another path. */
export function handleDiscovery(exchange: Exchange): ApiResponse | undefined {
  const { core, info, request } = exchange;
  const parts = info.path
    .slice(1)
    .split('/')
    .filter((part) => part !== '');
  const [root, group, version] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  const resources = core.catalog.infos(info.cluster);
  if (parts.length === 1) {
    const asked = aggregatedVersion(request.headers['accept']);
    if (asked) return aggregated(exchange, asked, root === 'api');
    const address = request.headers['host'] ?? 'localhost';
    return respond(root === 'api' ? apiVersions(address) : apiGroupList(resources));
  }
  if (root === 'api') {
    const list = apiResourceList(resources, { group: '', version: group ?? '' });
    if (parts.length > 2 || list === undefined) throw noSuchResource();
    return respond(list);
  }
  if (parts.length === 2) {
    const found = apiGroup(resources, group ?? '');
    return found ? respond(found) : text(404, '404 page not found\n');
  }
  if (apiGroup(resources, group ?? '') === undefined) return text(404, '404 page not found\n');
  const list = apiResourceList(resources, { group: group ?? '', version: version ?? '' });
  if (parts.length > 3 || list === undefined) throw noSuchResource();
  return respond(list);
}

/** The first aggregated form that the client prefers over the plain one. */
function aggregatedVersion(accept: string | undefined): AggregatedVersion | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== 'application/json' && type !== '*/*') continue;
    const { as, g, v } = parameters;
    if (as === undefined) return undefined;
    if (as !== 'APIGroupDiscoveryList' || g !== 'apidiscovery.k8s.io') continue;
    if (v === 'v2' || v === 'v2beta1') return v;
  }
  return undefined;
}

interface Document {
  bytes: Uint8Array;
  tag: string;
}

/** By what is served: nothing but a CRD changes it. */
const documents = new WeakMap<object, Map<string, { generation: number; document: Document }>>();

function aggregated(exchange: Exchange, version: AggregatedVersion, isCore: boolean): ApiResponse {
  const { bytes, tag } = documentFor(exchange, version, isCore);
  const headers = {
    'content-type': aggregatedContentType(version),
    etag: tag,
    vary: 'Accept',
    'cache-control': 'public',
  };
  const unchanged = exchange.request.headers['if-none-match'] === tag;
  return unchanged ? { status: 304, headers, body: new Uint8Array() } : { status: 200, headers, body: bytes };
}

function documentFor(exchange: Exchange, version: AggregatedVersion, isCore: boolean): Document {
  const { catalog } = exchange.core;
  const { cluster } = exchange.info;
  const key = `${version} ${isCore} ${catalog.hasCustom(cluster) ? cluster : ''}`;
  const known = documents.get(catalog) ?? new Map();
  documents.set(catalog, known);
  const there = known.get(key);
  if (there?.generation === catalog.generationOf(cluster)) return there.document;
  const value = aggregatedDiscovery(catalog.infos(cluster), version, isCore);
  const bytes = Buffer.from(JSON.stringify(value));
  const tag = `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`;
  const document = { bytes, tag };
  known.set(key, { generation: catalog.generationOf(cluster), document });
  return document;
}

function respond(value: object): ApiResponse {
  return jsonBytes(200, Buffer.from(`${JSON.stringify(value)}\n`));
}
