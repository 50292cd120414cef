import https from 'node:https';
import { checkHeader, controllersUser } from '../../cluster/names.ts';
import type { OtherVersion } from '../../kube/discovery/others.ts';
import { formatApiVersion, type GroupVersion } from '../../kube/gvk.ts';
import type { ApiRequest, ApiResponse, UserInfo } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { StatusError } from '../../kube/status.ts';
import type { Store } from '../../storage/store.ts';
import { isOwnController, ownUser } from '../authn/controllers.ts';
import { type Egress, EgressError } from '../egress/dial.ts';
import { text } from '../encode/text.ts';
import type { Catalog } from '../registry/catalog.ts';
import { decodeStored } from '../registry/codec.ts';
import { collectionRange, objectKey } from '../registry/keys.ts';
import type { Registry } from '../registry/types.ts';
import { isLongRunning, parseRequest, type RequestInfo } from '../request.ts';
import { connectionError, notAllowed } from '../webhook/go-text.ts';
import type { Resolve } from '../webhook/resolve.ts';
import { isRedirect, lateError, redirected, tooMany, unavailable, upTo } from './answers.ts';
import { type AggregatedService, aggregatedIn, apiServices } from './api-service.ts';
import { RequestHeaderAuthorities } from './authority.ts';
import { sentHeaders } from './headers.ts';
import { looksForAuthentication, publishAuthentication } from './publish.ts';
import { OtherResources } from './resources.ts';
import { send } from './send.ts';
import { UnderWay } from './turns.ts';

/** One request past all rungs. */
interface Asking {
  info: RequestInfo;
  request: ApiRequest;
  user: UserInfo;
}

export interface AggregationOptions {
  store: Store;
  catalog: Catalog;
  registry: Registry;
  resolve: Resolve;
  egress: Egress;
  /** Of an answer's beginning, and of all of one that does not last. */
  millis: number;
  closing: AbortSignal;
  underWay?: UnderWay;
}

/** As whom kube-aggregator asks, and our controllers do what no user asked for. */
const ourselves: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] };
/** Our controllers have others to look after. */
const ownMillis = 5_000;
const mostOwn = 8 << 20;
/** APIServices of a logical cluster that discovery looks at, by name: it is asked for by whoever asks what there is. */
const mostShown = 500;

/**
 * Passes requests on to the API servers that a logical cluster has of its own: whoever an APIService there names.
 * https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
 */
export class Aggregation {
  readonly #options: AggregationOptions;
  readonly #authorities: RequestHeaderAuthorities;
  readonly #underWay: UnderWay;
  readonly #resources: OtherResources;
  /** Each request takes a connection of its own: what is kept of so many servers has no bound that is a tenant's own. */
  readonly #agent: https.Agent;

  constructor(options: AggregationOptions) {
    this.#options = options;
    this.#authorities = new RequestHeaderAuthorities(options.store);
    this.#underWay = options.underWay ?? new UnderWay();
    this.#resources = new OtherResources((cluster, service) => this.#list(cluster, service));
    this.#agent = options.egress.guard(new https.Agent({ maxCachedSessions: 0, minVersion: 'TLSv1.2' }));
  }

  /** Who else serves a version of a group there. What is served here is never another's. */
  async find(cluster: string, group: string, version: string): Promise<AggregatedService | undefined> {
    const { store, catalog } = this.#options;
    if (cluster === '*' || version === '') return undefined;
    if (servedHere(catalog, cluster)({ group, version })) return undefined;
    const entry = await store.get(objectKey(apiServices, cluster, '', `${version}.${group}`));
    const found = entry && aggregatedIn(decodeStored(entry) as KubeObject<Record<string, unknown>>);
    return found?.group === group && found.version === version ? found : undefined;
  }

  /** Of a request below /apis/GROUP/VERSION; undefined: nobody else serves that either. */
  async handle(exchange: Asking): Promise<ApiResponse | undefined> {
    const { info, user } = exchange;
    const [, apis, group = '', version = '', ...rest] = info.path.split('/');
    if (apis !== 'apis') return undefined;
    const service = await this.find(info.cluster, group, version);
    if (service === undefined) return undefined;
    // What an empty part means is not for two servers to agree on.
    if (rest.includes('')) return text(404, '404 page not found\n');
    // Only whoever may be nobody but our own controller is heard.
    const own = isOwnController(user);
    if (own && exchange.request.headers[checkHeader] !== undefined) {
      const response = await this.#ask(exchange, service, ourselves);
      return { ...response, headers: { ...response.headers, [checkHeader]: 'asked' } };
    }
    return service.available ? this.#ask(exchange, service, own ? ourselves : user) : unavailable();
  }

  /** What others serve in a logical cluster, of so many; with the resources, where they are wanted. */
  async others(cluster: string, withResources = false): Promise<OtherVersion[]> {
    const { store, catalog } = this.#options;
    if (cluster === '*') return [];
    const { entries } = await store.list(collectionRange(apiServices, cluster, ''), { limit: mostShown });
    const isOurs = entries.length > 0 ? servedHere(catalog, cluster) : () => true;
    const services = entries
      .map((entry) => aggregatedIn(decodeStored(entry) as KubeObject<Record<string, unknown>>))
      .filter((service) => service !== undefined)
      .filter((service) => !isOurs(service));
    this.#resources.retain(cluster, services);
    return Promise.all(
      services.map((service) => {
        const { group, version, groupPriority, versionPriority } = service;
        const other = { group, version, groupPriority, versionPriority };
        return withResources ? this.#resources.of(cluster, service, other) : other;
      }),
    );
  }

  /** Writes what API servers there know us by, where that is looked for. */
  async publish(info: RequestInfo): Promise<void> {
    if (!looksForAuthentication(info)) return;
    await publishAuthentication(this.#options.registry, this.#authorities, info.cluster);
  }

  async #ask(exchange: Asking, service: AggregatedService, user: UserInfo): Promise<ApiResponse> {
    const { info, request } = exchange;
    const lasts = isLongRunning(info) || request.headers['upgrade'] !== undefined;
    const release = this.#underWay.take(info.cluster, lasts);
    if (release === undefined) throw tooMany();
    const { signal, over } = this.#bounded(exchange, lasts, release);
    try {
      const sent = await this.#sent(exchange, service, user);
      if (sent === undefined) {
        over();
        return unavailable();
      }
      const response = await send({ ...sent, body: request.body, signal, over });
      if (lasts) over.answered();
      if (isRedirect(response)) return redirected(response);
      return isOwnController(exchange.user) ? { ...response, body: upTo(mostOwn, response.body) } : response;
    } catch (error) {
      over();
      if (error instanceof StatusError) throw error;
      return text(503, `error trying to reach service: ${this.#why(error, service)}\n`);
    }
  }

  /** What it says that it serves. */
  #list(cluster: string, service: AggregatedService): Promise<ApiResponse> {
    const path = `/apis/${service.group}/${service.version}`;
    const info = { ...parseRequest('GET', path, { logicalClusters: false }), cluster };
    const request = { method: 'GET', url: path, headers: { accept: 'application/json' } };
    return this.#ask({ info, request, user: ownUser(controllersUser) }, service, ourselves);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sent(
    { info, request }: Asking,
    { service, ca, insecure }: AggregatedService,
    user: UserInfo,
  ): Promise<{ options: https.RequestOptions } | undefined> {
    const route = await this.#options.resolve(info.cluster, { service: { ...service, path: '' } });
    if (typeof route === 'string' || 'transport' in route) return undefined;
    const { certificate, privateKey } = await this.#authorities.certificate(info.cluster);
    const query = info.query.toString();
    const path = info.path.split('/').map(encodeURIComponent).join('/');
    const name = `${service.name}.${service.namespace}.svc`;
    const reads = request.method === 'GET' || request.method === 'HEAD';
    const options: https.RequestOptions = {
      agent: this.#agent,
      method: request.method,
      host: route.host,
      port: route.port,
      path: query === '' ? path : `${path}?${query}`,
      servername: name,
      cert: certificate,
      key: privateKey,
      ...(ca !== undefined && { ca }),
      rejectUnauthorized: !insecure,
      headers: {
        ...sentHeaders(request, user),
        host: `${name}:${service.port}`,
        ...((request.body || !reads) && { 'content-length': request.body?.length ?? 0 }),
      },
    };
    return { options };
  }

  /** For how long: until the caller goes, the server closes, or there is no more time. */
  #bounded(
    { request, user }: Asking,
    lasts: boolean,
    release: () => void,
  ): { signal: AbortSignal; over: (() => void) & { answered(): void } } {
    const ended = new AbortController();
    const { closing, millis } = this.#options;
    const abort = () => ended.abort();
    const isOurs = isOwnController(user);
    const timer = setTimeout(() => ended.abort(lateError()), isOurs ? Math.min(millis, ownMillis) : millis);
    const sources = lasts ? [request.signal, closing] : [request.signal];
    for (const source of sources) {
      if (source?.aborted) abort();
      source?.addEventListener('abort', abort, { once: true });
    }
    const answered = () => clearTimeout(timer);
    const over = () => {
      answered();
      release();
      for (const source of sources) source?.removeEventListener('abort', abort);
    };
    return { signal: ended.signal, over: Object.assign(over, { answered }) };
  }

  #why(error: unknown, { service }: AggregatedService): string {
    const { name, namespace, port } = service;
    const url = new URL(`https://${name}.${namespace}.svc:${port}`);
    if (error instanceof EgressError) return notAllowed(error.refusal, url);
    const { code, cause } = error as { code?: string; cause?: { name?: string } };
    if (code === 'ABORT_ERR')
      return cause?.name === 'TimeoutError' ? 'context deadline exceeded' : 'context canceled';
    return connectionError(error, url.hostname, { hostname: url.hostname, port: String(port) });
  }
}

/** What is served in every logical cluster is nobody else's in any version, what a definition serves in that one. */
function servedHere(catalog: Catalog, cluster: string): (gv: GroupVersion) => boolean {
  const served = new Set(catalog.infos(cluster).map(formatApiVersion));
  return (gv) => gv.group === '' || catalog.isCommon(gv.group) || served.has(formatApiVersion(gv));
}
