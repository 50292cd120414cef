import { createHash } from 'node:crypto';
import { othersHeader, group as ours, placements } from '../../cluster/names.ts';
import {
  type AggregatedVersion,
  aggregatedContentType,
  aggregatedDiscovery,
} from '../../kube/discovery/aggregated.ts';
import type { OtherVersion } from '../../kube/discovery/extension.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../kube/discovery/legacy.ts';
import type { ApiResponse } from '../../kube/http.ts';
import { encodeProtobuf, protobufMediaType } from '../../kube/protobuf/codec.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { Exchange } from '../core.ts';
import type { Encoding } from '../decode/media.ts';
import { checkAccept, negotiate, parseAccept, plainOffer } from '../encode/negotiate.ts';
import { contentTypes, encodeAs, type Kinded, noSuchResource } from '../encode/respond.ts';
import { text } from '../encode/text.ts';
import type { Catalog } from '../registry/catalog.ts';
import { bareOf } from '../request.ts';
import { MadeOfServed } from './made-of-served.ts';

/** /api, /apis and below, as far as they name no resource. `undefined`: another path. Throws StatusError 404, 406. */
export async function handleDiscovery(exchange: Exchange): Promise<ApiResponse | undefined> {
  const { core, info, request } = exchange;
  const parts = bareOf(info.path).slice(1).split('/');
  const [root, group = '', version = ''] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  if (info.path.startsWith('/apis//')) return notFound();
  const resources = infosOf(core.catalog, info.cluster);
  if (parts.length === 1) {
    if (root === 'api') checkAccept(request.headers);
    const asked = aggregatedForm(request.headers['accept']);
    if (asked) return aggregated(exchange, asked, root === 'api');
    const others = root === 'apis' ? await othersFor(exchange) : [];
    const address = request.headers['host'] ?? 'localhost';
    return respond(exchange, root === 'api' ? apiVersions(address) : apiGroupList(resources, others));
  }
  if (root === 'api') {
    const list = apiResourceList(resources, { group: '', version: group });
    if (parts.length > 2 || list === undefined) throw noSuchResource();
    return respond(exchange, list);
  }
  const others = parts.length === 2 ? await othersFor(exchange) : [];
  const found = apiGroup(resources, group, others);
  if (found === undefined) return notFound();
  if (parts.length === 2) return respond(exchange, found);
  const list = apiResourceList(resources, { group, version });
  if (parts.length === 3 && list !== undefined) return respond(exchange, list);
  if (isDefined(core.catalog, info.cluster, group)) return notFound();
  throw noSuchResource();
}

const notFound = () => text(404, '404 page not found\n');

/** Whether definitions alone make the group. */
function isDefined(catalog: Catalog, cluster: string, group: string): boolean {
  return catalog.resources(cluster).every(({ info, custom }) => info.group !== group || custom);
}

/** Of what goes with its definition. */
const lastVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch'];
/** Of Placements: whoever keeps what may be made anew, as a backup, would make those for which nobody asked. */
const readVerbs = ['get', 'list', 'watch'];

function infosOf(catalog: Catalog, cluster: string): readonly ResourceInfo[] {
  return catalog.resources(cluster).map(({ info, isEnding }) => {
    if (info.group === ours && info.resource === placements.resource) return { ...info, verbs: readVerbs };
    return isEnding ? { ...info, verbs: lastVerbs } : info;
  });
}

/** What reads all logical clusters at once, as garbage collection does, waits for no server of one of them. */
async function othersFor(
  { core, info, request, user }: Exchange,
  withResources = false,
): Promise<readonly OtherVersion[]> {
  if (isOwnController(user) && request.headers[othersHeader] === undefined) return [];
  return core.aggregation.others(info.cluster, withResources);
}

interface AggregatedForm {
  version: AggregatedVersion;
  encoding: Encoding;
}

const encodings: Readonly<Record<string, Encoding>> = {
  'application/json': 'json',
  '*/*': 'json',
  'application/*': 'json',
  'application/yaml': 'yaml',
  [protobufMediaType]: 'protobuf',
};

/** The first aggregated form that the client prefers over the plain one. */
function aggregatedForm(accept: string | undefined): AggregatedForm | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    const encoding = Object.hasOwn(encodings, type) ? encodings[type] : undefined;
    if (encoding === undefined) continue;
    const { as, g, v } = parameters;
    if (as === undefined) return undefined;
    if (as !== 'APIGroupDiscoveryList' || g !== 'apidiscovery.k8s.io') continue;
    if (v === 'v2' || v === 'v2beta1') return { version: v, encoding };
  }
  return undefined;
}

interface Document {
  bytes: Uint8Array;
  tag: string;
}

/** By form; nothing but a CRD changes them. */
const documents = new WeakMap<Catalog, MadeOfServed<Map<string, Document>>>();

async function aggregated(exchange: Exchange, form: AggregatedForm, isCore: boolean): Promise<ApiResponse> {
  const others = isCore ? [] : await othersFor(exchange, true);
  const made = others.length > 0 ? document(exchange, form, isCore, others) : undefined;
  const { bytes, tag } = made ?? documentFor(exchange, form, isCore);
  const headers = { etag: tag, vary: 'Accept', 'cache-control': 'public' };
  if (exchange.request.headers['if-none-match'] === tag) {
    return { status: 304, headers, body: new Uint8Array() };
  }
  const type = aggregatedContentType(form.version).replace('application/json', contentTypes[form.encoding]);
  return { status: 200, headers: { ...headers, 'content-type': type }, body: bytes };
}

function documentFor(exchange: Exchange, form: AggregatedForm, isCore: boolean): Document {
  const { catalog } = exchange.core;
  const served = documents.get(catalog) ?? new MadeOfServed<Map<string, Document>>(catalog);
  documents.set(catalog, served);
  const known = served.of(exchange.info.cluster, () => new Map<string, Document>());
  const key = `${form.version} ${form.encoding} ${isCore}`;
  const made = known.get(key) ?? document(exchange, form, isCore, []);
  known.set(key, made);
  return made;
}

function document(
  { core, info }: Exchange,
  { version, encoding }: AggregatedForm,
  isCore: boolean,
  others: readonly OtherVersion[],
): Document {
  const infos = infosOf(core.catalog, info.cluster);
  const value = aggregatedDiscovery(infos, version, isCore, others) as unknown as Kinded;
  const bytes = encodeAs(value, { encoding, shape: 'object', version: 'v1', pretty: false });
  const tag = `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"`;
  return { bytes, tag };
}

/** Throws StatusError 406. */
function respond({ request, info }: Exchange, value: object): ApiResponse {
  // /apis and its groups are the aggregator's: no router looks at the header there.
  if (!/^\/apis(\/[^/]+)?$/.test(info.path.replace(/\/$/, ''))) checkAccept(request.headers);
  const form = negotiate(request.headers, info.query, plainOffer);
  // The core group's documents carry no apiVersion.
  const named = 'apiVersion' in value ? 'v1' : '';
  const body =
    form.encoding === 'protobuf'
      ? encodeProtobuf({ apiVersion: 'v1', ...value } as Kinded, named)
      : encodeAs(value as Kinded, form);
  return { status: 200, headers: { 'content-type': contentTypes[form.encoding] }, body };
}
