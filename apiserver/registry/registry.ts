import { logicalClusters, rootCluster } from '../../cluster/names.ts';
import { andThen, isLater, type Later } from '../../kube/later.ts';
import type { Json, KubeObject } from '../../kube/object.ts';
import { applyMergePatch } from '../../kube/patch/merge.ts';
import { expired, notFound, StatusError } from '../../kube/status.ts';
import type { Entry, ListResult, Store, StoreEvent } from '../../storage/store.ts';
import { StoreError } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import type { Catalog } from './catalog.ts';
import { decodeStored } from './codec.ts';
import type { Converting } from './converting.ts';
import { createObject } from './create.ts';
import type { Followed } from './defaults.ts';
import { deleteObject } from './delete.ts';
import { translate, translated } from './errors.ts';
import { collectionRange, type KeyParts, keyRange, objectKey, parseKey, storageGroup } from './keys.ts';
import { defaultEntry } from './kinds/default-objects.ts';
import { asDefined } from './kinds/defined.ts';
import { foundation } from './logical-clusters.ts';
import { recent, recentList } from './recent.ts';
import { isStale, markStale } from './stale.ts';
import type {
  Address,
  DeleteOptions,
  Listed,
  ObjectEvent,
  ObjectRegistry,
  ObjectWatch,
  Scope,
  Unread,
  WriteOptions,
} from './types.ts';
import { updateObject } from './write.ts';

/** All objects, by what the catalog serves, in one store. */
export class StoreRegistry implements ObjectRegistry {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly roles: Followed['roles'];
  readonly flows: Followed['flows'];
  readonly classes: Followed['classes'];
  readonly converting: Converting | undefined;

  constructor(store: Store, catalog: Catalog, { roles, flows, classes }: Followed, converting?: Converting) {
    this.store = store;
    this.catalog = catalog;
    this.roles = roles;
    this.flows = flows;
    this.classes = classes;
    this.converting = converting;
  }

  get resourceVersion(): string {
    return String(this.store.revision);
  }

  find(cluster: string, group: string, resource: string): ServedResource | undefined {
    return this.catalog.stored(cluster, storageGroup(group, resource), resource);
  }

  resources(cluster: string): readonly ServedResource[] {
    return this.catalog.resources(cluster);
  }

  async exists(cluster: string): Promise<boolean> {
    const key = foundation(cluster);
    if (cluster === rootCluster || (await translated(recent(this.store, key), logicalClusters))) return true;
    return (await translated(this.store.get(key), logicalClusters)) !== undefined;
  }

  /** The stored entry; fails with 404. */
  async read(served: ServedResource, address: KeyParts): Promise<Entry> {
    const key = objectKey(served.info, address.cluster, address.namespace, address.name);
    const stored = await translated(this.store.get(key), served.info, address.name);
    const entry = stored ?? defaultEntry(this, served.info, address);
    if (entry === undefined) throw notFound(served.info, address.name);
    const shown = asDefined(entry, served);
    if (isStale(entry)) markStale(shown);
    return shown;
  }

  seen(served: ServedResource, address: KeyParts): Entry | undefined {
    const { cluster, namespace, name } = address;
    const entry = this.store.seen?.(objectKey(served.info, cluster, namespace, name));
    return entry && asDefined(entry, served);
  }

  readAll(served: ServedResource, cluster: string, namespace: string): Promise<ListResult> {
    return translated(this.store.list(collectionRange(served.info, cluster, namespace)), served.info);
  }

  /** An entry that was listed or watched, by its kind's definition in its own logical cluster: see defined.ts. */
  asDefined(served: ServedResource, cluster: string, entry: Entry, old = false): Entry {
    if (served.definition === undefined) return entry;
    if (cluster !== '*') return asDefined(entry, served, old);
    const { group, resource } = served.info;
    const own = this.catalog.stored(parseKey(served.info, entry.key).cluster, group, resource);
    return own ? asDefined(entry, own, old) : entry;
  }

  /** As decodeStored; names the logical cluster when `cluster` is `*`. */
  decode(served: ServedResource, cluster: string, entry: Entry): KubeObject {
    return decodeStored(entry, cluster === '*' ? parseKey(served.info, entry.key).cluster : undefined);
  }

  async get(address: Address): Promise<KubeObject> {
    const served = this.#require(address);
    const entry = await this.read(served, keyParts(address));
    return decodeStored(entry);
  }

  async list(scope: Scope): Promise<Listed> {
    const served = this.#require(scope);
    const range = collectionRange(served.info, scope.cluster, scope.namespace ?? '');
    const { entries, revision } = await translated(this.store.list(range), served.info);
    return { items: this.#objectsOf(served, scope, entries), resourceVersion: String(revision) };
  }

  recent(scope: Scope | Address): Later<readonly KubeObject[]> {
    const served = this.#require(scope);
    const { cluster, namespace = '' } = scope;
    const range =
      'name' in scope
        ? keyRange(objectKey(served.info, cluster, namespace, scope.name))
        : collectionRange(served.info, cluster, namespace);
    const found = recentList(this.store, range);
    return andThen(isLater(found) ? translated(found, served.info) : found, (entries) =>
      this.#objectsOf(served, scope, entries),
    );
  }

  async unread(scope: Scope, most: number): Promise<{ items: readonly Unread[]; total: number }> {
    const served = this.#require(scope);
    const range = collectionRange(served.info, scope.cluster, scope.namespace ?? '');
    const found = await translated(this.store.list(range, { limit: most }), served.info);
    const items = found.entries.map((entry) => ({
      get bytes() {
        return entry.value.length;
      },
      read: () => this.decode(served, scope.cluster, this.asDefined(served, scope.cluster, entry)),
    }));
    return { items, total: items.length + found.remaining };
  }

  async watch(scope: Scope, options: ObjectWatch): Promise<void> {
    const served = this.#require(scope);
    const range = collectionRange(served.info, scope.cluster, scope.namespace ?? '');
    const toEvent = (event: StoreEvent): ObjectEvent => {
      const gone = event.type === 'delete';
      const object = this.decode(
        served,
        scope.cluster,
        this.asDefined(served, scope.cluster, event.entry, gone),
      );
      if (event.type === 'delete') return { type: 'DELETED', object };
      if (event.previous === undefined) return { type: 'ADDED', object };
      const previous = this.asDefined(served, scope.cluster, event.previous);
      return { type: 'MODIFIED', object, previous: this.decode(served, scope.cluster, previous) };
    };
    await translated(
      this.store.watch(range, {
        after: Number(options.after),
        ...(options.signal && { signal: options.signal }),
        sink: (events) => {
          const wanted = events.filter((event) => inScope(served, scope, event.entry));
          if (wanted.length > 0) options.sink(wanted.map(toEvent));
        },
        onEnd: (reason) => options.onEnd?.(watchEnd(reason, served)),
      }),
      served.info,
    );
  }

  create(scope: Scope, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const place = { cluster: scope.cluster, namespace: scope.namespace ?? '' };
    return createObject(this, this.#require(scope), place, object, { ...options });
  }

  update(
    address: Address,
    change: (current: KubeObject) => KubeObject,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    return updateObject(this, this.#require(address), keyParts(address), change, { ...options });
  }

  patch(address: Address, patch: object, options: WriteOptions = {}): Promise<KubeObject> {
    const change = (current: KubeObject) =>
      applyMergePatch(current as unknown as Json, patch as Json) as unknown as KubeObject;
    return this.update(address, change, options);
  }

  async delete(address: Address, options: DeleteOptions = {}): Promise<KubeObject> {
    return (await deleteObject(this, this.#require(address), keyParts(address), options)).object;
  }

  #objectsOf(served: ServedResource, scope: Scope, entries: readonly Entry[]): KubeObject[] {
    if (entries.length === 0) return [];
    const wanted = entries.filter((entry) => inScope(served, scope, entry));
    return wanted.map((entry) =>
      this.decode(served, scope.cluster, this.asDefined(served, scope.cluster, entry)),
    );
  }

  #require(scope: Scope): ServedResource {
    const served = this.find(scope.cluster, scope.group, scope.resource);
    if (served) return served;
    throw new StatusError(404, 'NotFound', 'the server could not find the requested resource');
  }
}

/** A wildcard range covers all namespaces: keys order by logical cluster first. */
export function inScope(
  served: ServedResource,
  scope: { cluster: string; namespace?: string },
  entry: Entry,
): boolean {
  if (scope.cluster !== '*' || !scope.namespace || !served.info.namespaced) return true;
  return parseKey(served.info, entry.key).namespace === scope.namespace;
}

export function watchEnd(reason: unknown, served: ServedResource): Error {
  const compacted = reason instanceof StoreError && reason.code === 'compacted';
  return compacted ? expired('too old resource version') : translate(reason, served.info, '');
}

function keyParts({ cluster, namespace = '', name }: Address): KeyParts {
  return { cluster, namespace, name };
}
