import type { ApiRequest, ApiResponse, Transport } from '../kube/http.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeList, KubeObject, WatchEvent } from '../kube/object.ts';
import { decode, failIfNotOk } from './exchange.ts';
import {
  type ClientOptions,
  type CreateOptions,
  type DeleteOptions,
  type ListOptions,
  type PatchType,
  patchTypes,
  type RawRequest,
  type WatchOptions,
  type WriteOptions,
} from './options.ts';
import { type Length, listPages, withKinds } from './pages.ts';
import { clusterPath, pathOf, type Query, queryOf, type ResourceRef, type Target } from './url.ts';
import { watchEvents } from './watch.ts';

/**
 * A typed face of any Kubernetes API. Every failure is a StatusError (the server said no) or a TransportError
 * (no whole answer), or the reason of the aborted signal.
 */
export class Client {
  readonly cluster: string | undefined;
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.#transport = transport;
    this.#options = options;
    this.cluster = options.cluster;
  }

  /** The same API and identity with other defaults. */
  with(options: ClientOptions): Client {
    return new Client(this.#transport, { ...this.#options, ...options });
  }

  async get<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    target: Target,
    signal?: AbortSignal,
  ): Promise<T> {
    return (await this.#json('GET', this.#path(resource, target), { signal })) as T;
  }

  /** All pages; `metadata.resourceVersion` is that of the first, from which a watch may start. */
  async list<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    options: ListOptions<T> = {},
  ): Promise<KubeList<T>> {
    const { signal, labelSelector, fieldSelector, slices, resourceVersion, keep } = options;
    const path = this.#path(resource, { cluster: options.cluster, namespace: options.namespace });
    const page = async (query: Query, length: Length) => {
      const url = path + queryOf({ labelSelector, fieldSelector, slices, ...query });
      const response = await this.#send({ method: 'GET', url, headers: {}, ...(signal && { signal }) });
      await failIfNotOk(response);
      const list = (await decode(response, undefined, (bytes) => length.add(bytes))) as KubeList<T>;
      return keep ? { ...list, items: withKinds(list).items.map(keep) } : list;
    };
    return await listPages(page, options.limit ?? 500, resourceVersion, this.#options.mostListBytes);
  }

  async create<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    object: KubeObject,
    options: CreateOptions = {},
  ): Promise<T> {
    return (await this.#write('POST', this.#createPath(resource, object, options), object, options)) as T;
  }

  /** As create, for whoever does not look at what is answered. */
  async createUnread(resource: ResourceRef, object: KubeObject, options: CreateOptions = {}): Promise<void> {
    const how = { ...options, isUnread: true };
    await this.#write('POST', this.#createPath(resource, object, options), object, how);
  }

  /** PUT; where it goes is read from the object's own metadata. */
  async update<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    object: KubeObject,
    options: WriteOptions & { cluster?: string | undefined; subresource?: string } = {},
  ): Promise<T> {
    const { namespace, name = '' } = object.metadata;
    const { cluster, subresource } = options;
    const path = this.#path(resource, { cluster, namespace, name, subresource });
    return (await this.#write('PUT', path, object, options)) as T;
  }

  async patch<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    target: Target,
    type: PatchType,
    body: object,
    options: WriteOptions & { force?: boolean } = {},
  ): Promise<T> {
    const how = { ...options, contentType: patchTypes[type] };
    return (await this.#write('PATCH', this.#path(resource, target), body, how)) as T;
  }

  /** As patch, for whoever does not look at what is answered. */
  async patchUnread(
    resource: ResourceRef,
    target: Target,
    type: PatchType,
    body: object,
    options: WriteOptions = {},
  ): Promise<void> {
    const how = { ...options, contentType: patchTypes[type], isUnread: true };
    await this.#write('PATCH', this.#path(resource, target), body, how);
  }

  /** Answers the Status, or the object while its finalizers hold it. */
  async delete(
    resource: ResourceRef,
    target: Target,
    options: DeleteOptions = {},
    signal?: AbortSignal,
  ): Promise<KubeObject> {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...options };
    return (await this.#json('DELETE', this.#path(resource, target), { body, signal })) as KubeObject;
  }

  async deleteCollection(
    resource: ResourceRef,
    options: ListOptions = {},
    how: DeleteOptions = {},
  ): Promise<void> {
    const { cluster, namespace, labelSelector, fieldSelector, signal } = options;
    const path = this.#path(resource, { cluster, namespace }) + queryOf({ labelSelector, fieldSelector });
    await this.#json('DELETE', path, { body: { kind: 'DeleteOptions', apiVersion: 'v1', ...how }, signal });
  }

  /**
   * One watch, from `resourceVersion` until the server or `signal` ends it (a plain return). An ERROR event is
   * thrown as its StatusError; bookmarks are handed on. Nobody may change the objects.
   */
  async *watch<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    options: WatchOptions = {},
  ): AsyncIterable<WatchEvent<T>> {
    for await (const events of this.watchSome<T>(resource, options)) {
      for (const event of events) {
        if (options.signal?.aborted) return;
        yield event;
      }
    }
  }

  /** As watch: what came together, together. */
  async *watchSome<T extends KubeObject = KubeObject>(
    resource: ResourceRef,
    options: WatchOptions = {},
  ): AsyncIterable<readonly WatchEvent<T>[]> {
    const { cluster, namespace, signal, maxLine, onOpen, ...query } = options;
    const path = this.#path(resource, { cluster, namespace });
    const url = path + queryOf({ ...query, watch: true, allowWatchBookmarks: true });
    const request = { method: 'GET', url, headers: {}, objects: true, ...(signal && { signal }) };
    const response = await this.#send(request);
    await failIfNotOk(response);
    onOpen?.();
    yield* watchEvents<T>(response, { signal, maxLine });
  }

  /** The answer as it came, failures included; a path below the client's prefix and cluster. */
  raw(request: RawRequest): Promise<ApiResponse> {
    const { method, path, cluster = this.cluster, headers = {}, body, signal, maxBytes } = request;
    const url = (this.#options.prefix ?? '') + clusterPath(cluster) + path;
    return this.#send({
      method,
      url,
      headers,
      ...encoded(body),
      ...(signal && { signal }),
      ...(maxBytes && { maxBytes }),
    });
  }

  /** GET of any JSON document: discovery, version, openapi. */
  async json(path: string, options: Omit<RawRequest, 'method' | 'path'> = {}): Promise<unknown> {
    const response = await this.raw({ method: 'GET', path, ...options });
    await failIfNotOk(response);
    return await decode(response, options.maxBytes);
  }

  #path(resource: ResourceRef, target: Partial<Target>): string {
    const cluster = target.cluster ?? this.cluster;
    return (this.#options.prefix ?? '') + pathOf(resource, { ...target, cluster });
  }

  #createPath(
    resource: ResourceRef,
    object: KubeObject,
    { cluster, name = '', subresource, namespace = object.metadata.namespace }: CreateOptions,
  ): string {
    return this.#path(resource, { cluster, namespace, name, subresource });
  }

  #write(
    method: string,
    path: string,
    body: object,
    options: WriteOptions & { contentType?: string; force?: boolean; isUnread?: boolean },
  ): Promise<unknown> {
    const { dryRun, signal, contentType, force, isUnread } = options;
    const fieldManager = options.fieldManager ?? this.#options.fieldManager;
    const query = queryOf({ fieldManager, force, dryRun: dryRun ? 'All' : undefined });
    return this.#json(method, path + query, { body, signal, contentType, isUnread });
  }

  async #json(
    method: string,
    url: string,
    options: {
      body?: object;
      contentType?: string | undefined;
      signal?: AbortSignal | undefined;
      isUnread?: boolean | undefined;
    },
  ): Promise<unknown> {
    const { body, contentType, signal } = options;
    const headers = { ...(contentType && { 'content-type': contentType }) };
    const response = await this.#send({ method, url, headers, ...encoded(body), ...(signal && { signal }) });
    await failIfNotOk(response);
    if (options.isUnread && response.body instanceof Uint8Array) return undefined;
    return await decode(response);
  }

  #send(request: ApiRequest): Promise<ApiResponse> {
    request.signal?.throwIfAborted();
    const headers = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent ?? 'atoll',
      ...(request.body && { 'content-type': 'application/json' }),
      ...request.headers,
    };
    return this.#transport({ ...request, headers });
  }
}

function encoded(body: Uint8Array | object | undefined): { body?: Uint8Array } {
  if (body === undefined) return {};
  return { body: body instanceof Uint8Array ? body : Buffer.from(encodeJson(body)) };
}
