import { checkHeader, controllersUser } from '../../cluster/names.ts';
import type { OtherVersion } from '../../kube/discovery/extension.ts';
import { formatApiVersion, type GroupVersion } from '../../kube/gvk.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { OtherSwagger } from '../../kube/openapi/extension.ts';
import type { Store } from '../../storage/store.ts';
import { isOwnController, ownUser } from '../authn/controllers.ts';
import { text } from '../encode/text.ts';
import type { Catalog } from '../registry/catalog.ts';
import { decodeStored } from '../registry/codec.ts';
import { collectionRange, objectKey } from '../registry/keys.ts';
import type { Registry } from '../registry/types.ts';
import { isDots, parseRequest, type RequestInfo } from '../request.ts';
import { unavailable } from './answers.ts';
import { type AggregatedService, aggregatedIn, apiServices } from './api-service.ts';
import { RequestHeaderAuthorities } from './authority.ts';
import { KeptAnswers } from './kept.ts';
import { documentsIn, type OtherDocument, openApiQuestion } from './openapi.ts';
import { AggregationProxy, type Asking, type ProxyOptions } from './proxy.ts';
import { looksForAuthentication, publishAuthentication } from './publish.ts';
import { ourselves, resourcesQuestion } from './resources.ts';
import { swaggerQuestion } from './swagger.ts';

export interface AggregationOptions extends ProxyOptions {
  store: Store;
  catalog: Catalog;
  registry: Registry;
}

/** APIServices of a logical cluster that documents about all of them look at, by name: whoever asks what there is waits for them. */
const mostShown = 500;

/**
 * Passes requests on to the API servers that a logical cluster has of its own: whoever an APIService there names.
 * https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
 */
export class Aggregation {
  readonly #options: AggregationOptions;
  readonly #authorities: RequestHeaderAuthorities;
  readonly #proxy: AggregationProxy;
  readonly #kept: KeptAnswers;

  constructor(options: AggregationOptions) {
    this.#options = options;
    this.#authorities = new RequestHeaderAuthorities(options.store);
    this.#proxy = new AggregationProxy(options, this.#authorities);
    this.#kept = new KeptAnswers((cluster, service, { path, user, etag }) => {
      const info = { ...parseRequest('GET', path, { logicalClusters: false }), cluster };
      const headers = { accept: 'application/json', ...(etag !== undefined && { 'if-none-match': etag }) };
      const exchange = { info, request: { method: 'GET', url: path, headers } };
      return this.#proxy.ask({ ...exchange, user: ownUser(controllersUser) }, service, user);
    });
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
    // What an empty part means, or dots, is not for two servers to agree on.
    if (rest.some((part) => isDots(part) || (part === '' && rest.length > 1)))
      return text(404, '404 page not found\n');
    // Only whoever may be nobody but our own controller is heard.
    const own = isOwnController(user);
    if (own && exchange.request.headers[checkHeader] !== undefined) {
      const response = await this.#proxy.ask(exchange, service, ourselves);
      return { ...response, headers: { ...response.headers, [checkHeader]: 'asked' } };
    }
    return service.available ? this.#proxy.ask(exchange, service, own ? ourselves : user) : unavailable();
  }

  /** What others serve in a logical cluster, of so many; with the resources, where they are wanted. */
  async others(cluster: string, withResources = false): Promise<OtherVersion[]> {
    const services = await this.#services(cluster);
    return Promise.all(
      services.map(async (service) => {
        const { group, version, groupPriority, versionPriority } = service;
        const other = { group, version, groupPriority, versionPriority };
        if (!withResources) return other;
        const { value = [], isFresh } = await this.#kept.of(cluster, service, resourcesQuestion);
        return { ...other, stale: !isFresh, resources: value };
      }),
    );
  }

  /** The OpenAPI 3 documents that others have of what they serve in a logical cluster. */
  async documents(cluster: string): Promise<OtherDocument[]> {
    const services = await this.#services(cluster);
    const said = await Promise.all(
      services.map(async (service) => {
        const { value = [] } = await this.#kept.of(cluster, service, openApiQuestion);
        return { service, value };
      }),
    );
    return documentsIn(said);
  }

  /** What others say in OpenAPI 2 of what they serve in a logical cluster, in the order of their names. */
  async swaggers(cluster: string): Promise<OtherSwagger[]> {
    const services = await this.#services(cluster);
    const said = await Promise.all(
      services.map((service) => this.#kept.of(cluster, service, swaggerQuestion)),
    );
    return said.flatMap(({ value }) => (value ? [value] : []));
  }

  /** Of a request for an OpenAPI 3 document; undefined: nobody else has one there. */
  async document(exchange: Asking, path: string): Promise<ApiResponse | undefined> {
    const { info, user } = exchange;
    const [apis, group = '', version, ...rest] = path.split('/');
    if (apis !== 'apis' || rest.length > 0) return undefined;
    const service =
      version === undefined
        ? (await this.documents(info.cluster)).find((one) => one.path === path)?.service
        : await this.find(info.cluster, group, version);
    if (service === undefined) return undefined;
    if (!service.available) return unavailable();
    // Whoever asks by an old hash would be sent on, and told by the new one's answer to keep it for ever.
    const asked = { ...info, query: new URLSearchParams() };
    return this.#proxy.ask({ ...exchange, info: asked }, service, user);
  }

  /** Writes what API servers there know us by, where that is looked for. */
  async publish(info: RequestInfo): Promise<void> {
    if (!looksForAuthentication(info)) return;
    await publishAuthentication(this.#options.registry, this.#authorities, info.cluster);
  }

  close(): void {
    this.#proxy.close();
  }

  /** Who else serves anything in a logical cluster, of so many. */
  async #services(cluster: string): Promise<AggregatedService[]> {
    const { store, catalog } = this.#options;
    if (cluster === '*') return [];
    const { entries } = await store.list(collectionRange(apiServices, cluster, ''), { limit: mostShown });
    const isOurs = entries.length > 0 ? servedHere(catalog, cluster) : () => true;
    const services = entries
      .map((entry) => aggregatedIn(decodeStored(entry) as KubeObject<Record<string, unknown>>))
      .filter((service) => service !== undefined)
      .filter((service) => !isOurs(service));
    this.#kept.retain(cluster, services);
    return services;
  }
}

/** What is served in every logical cluster is nobody else's in any version, what a definition serves in that one. */
function servedHere(catalog: Catalog, cluster: string): (gv: GroupVersion) => boolean {
  const served = new Set(catalog.infos(cluster).map(formatApiVersion));
  return (gv) => gv.group === '' || catalog.isCommon(gv.group) || served.has(formatApiVersion(gv));
}
