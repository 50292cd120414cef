import type { ApiResponse } from '../../kube/http.ts';
import type { CustomKind } from '../../kube/openapi/custom.ts';
import { OpenApi, type OpenApiDocument } from '../../kube/openapi/openapi.ts';
import { isRecord } from '../../kube/untyped.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { Exchange } from '../core.ts';
import { parseAccept } from '../encode/negotiate.ts';
import type { Catalog } from '../registry/catalog.ts';
import { Additions } from './additions.ts';
import { MadeOfServed } from './made-of-served.ts';

const gnostic = 'com.github.proto-openapi.spec.v2';
/** Not the Accept string: Go cannot parse the `@` in it. */
const gnosticType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

const gnostic3 = 'com.github.proto-openapi.spec.v3';
const gnostic3Type = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

const additions = new Additions();

const jsonTypes: readonly string[] = ['application/json', 'application/*', '*/*'];
const swaggerVary = 'Accept-Encoding, Accept';

/** /openapi/v2 and /openapi/v3, with what other API servers of the logical cluster have. `undefined`: another path. */
export async function handleOpenApi(exchange: Exchange): Promise<ApiResponse | undefined> {
  const { core, info, request, user } = exchange;
  const { path } = info;
  if (!path.startsWith('/openapi/')) return undefined;
  const documents = documentsFor(core.catalog, info.cluster);
  if (path === '/openapi/v2') {
    const form = formOf(request.headers['accept'], gnostic);
    if (form === undefined) return { status: 406, headers: { vary: swaggerVary }, body: new Uint8Array() };
    const others = isOwnController(user) ? [] : await core.aggregation.swaggers(info.cluster);
    const addition = others.length > 0 ? await additions.of(info.cluster, documents, others) : undefined;
    return form === 'protobuf'
      ? respond(exchange, documents.v2Protobuf(addition), gnosticType, swaggerVary)
      : respond(exchange, documents.v2(addition), 'application/json', swaggerVary);
  }
  // Neither an ETag nor a type of its own: as kube-apiserver gives it.
  if (path === '/openapi/v3') {
    const others = isOwnController(user) ? [] : await core.aggregation.documents(info.cluster);
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    return { status: 200, headers, body: documents.index(others).bytes };
  }
  if (!path.startsWith('/openapi/v3/')) return undefined;
  const name = path.slice('/openapi/v3/'.length);
  const form = formOf(request.headers['accept'], gnostic3);
  const document = form === 'protobuf' ? documents.v3Protobuf(name) : documents.v3(name);
  if (document === undefined) return (await core.aggregation.document(exchange, name)) ?? notFound();
  if (form === undefined) return { status: 406, headers: { vary: 'Accept' }, body: new Uint8Array() };
  const hash = info.query.get('hash');
  if (hash !== null && hash !== document.hash) return moved(request.url.replace(/\?.*/s, ''), document.hash);
  return respond(exchange, document, form === 'protobuf' ? gnostic3Type : 'application/json');
}

function notFound(): ApiResponse {
  return { status: 404, headers: {}, body: new Uint8Array() };
}

/** Where it is now: who asks by an old hash may keep the answer for ever. */
function moved(path: string, hash: string): ApiResponse {
  const headers = { location: `${path}?hash=${hash}`, etag: `"${hash}"`, vary: 'Accept' };
  return { status: 301, headers: { ...headers, 'content-type': 'application/json' }, body: new Uint8Array() };
}

function formOf(accept: string | undefined, protobuf: string): 'json' | 'protobuf' | undefined {
  for (const { type } of parseAccept(accept)) {
    if (type.includes(protobuf)) return 'protobuf';
    if (jsonTypes.includes(type)) return 'json';
  }
  return undefined;
}

const sets = new WeakMap<Catalog, MadeOfServed<OpenApi>>();

function documentsFor(catalog: Catalog, cluster: string): OpenApi {
  const served = sets.get(catalog) ?? new MadeOfServed<OpenApi>(catalog);
  sets.set(catalog, served);
  return served.of(
    cluster,
    () => new OpenApi(catalog.infos(cluster), (gvk) => schemaFor(catalog, cluster, gvk)),
  );
}

function schemaFor(
  catalog: Catalog,
  cluster: string,
  gvk: { group: string; version: string; kind: string },
): CustomKind | undefined {
  const served = catalog
    .resources(cluster)
    .find(
      ({ info, custom }) =>
        custom && info.group === gvk.group && info.version === gvk.version && info.kind === gvk.kind,
    );
  if (served === undefined) return undefined;
  const { openapi, schema, listKind, selectableFields } = served;
  const own = schema.type === 'object' ? schema : { type: 'object' };
  return { schema: isRecord(openapi) ? openapi : own, listKind, selectableFields };
}

function respond(
  { request }: Exchange,
  document: OpenApiDocument,
  type: string,
  vary = 'Accept',
): ApiResponse {
  const etag = `"${document.hash}"`;
  const headers = { etag, vary, 'cache-control': 'no-cache, private' };
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, body: new Uint8Array() };
  return { status: 200, headers: { ...headers, 'content-type': type }, body: document.bytes };
}
