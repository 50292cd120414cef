import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Entry, ListResult, Store } from '../../storage/store.ts';
import type { ServedResource } from '../served.ts';
import type { Catalog } from './catalog.ts';
import type { Converting } from './converting.ts';
import type { Followed } from './defaults.ts';
import type { KeyParts } from './keys.ts';

/** A collection. `cluster: '*'` means all logical clusters (reads only); no namespace means all of them. */
export interface Scope {
  cluster: string;
  group: string;
  resource: string;
  namespace?: string;
}

export interface Address extends Scope {
  name: string;
}

export interface Listed {
  items: KubeObject[];
  resourceVersion: string;
}

/** `previous` is the object before a MODIFIED. */
export interface ObjectEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
  previous?: KubeObject;
}

export interface ObjectWatch {
  /** Events after this resourceVersion. */
  after: string;
  sink(events: readonly ObjectEvent[]): void;
  /** Once, when the watch cannot go on; a StatusError such as 410 Expired. */
  onEnd?(reason: Error): void;
  signal?: AbortSignal;
}

export interface WriteOptions {
  /** Field manager; empty or absent: managed fields are left as they are. */
  manager?: string;
  subresource?: string;
  dryRun?: boolean;
  /** `change` already wrote managedFields (server-side apply). */
  managed?: boolean;
}

export interface DeleteOptions {
  uid?: string;
  resourceVersion?: string;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
  dryRun?: boolean;
  /** One of many: kinds that delete in a way of their own do not then. */
  collection?: boolean;
}

/** An object as it is stored: to read it takes as long as it is large. */
export interface Unread {
  readonly bytes: number;
  read(): KubeObject;
}

/**
 * Objects without HTTP, authorization or admission; defaulting, validation and the per-kind strategies apply.
 * Every method fails with StatusError. Objects read carry resourceVersion; those of scope `*` also carry
 * kcp.io/cluster.
 */
export interface Registry {
  /** The newest resourceVersion. */
  readonly resourceVersion: string;
  /** What is served at a path of a logical cluster; any served version. */
  find(cluster: string, group: string, resource: string): ServedResource | undefined;
  resources(cluster: string): readonly ServedResource[];
  /** Whether the logical cluster exists. */
  exists(cluster: string): Promise<boolean>;
  get(address: Address): Promise<KubeObject>;
  list(scope: Scope): Promise<Listed>;
  /** All of a scope, or the one of that name, as of what this server has seen, which asks no other machine; at once where memory has it. */
  recent(scope: Scope | Address): Later<readonly KubeObject[]>;
  /** The first so many of a scope, and how many there are: for whoever reads any number of a user's, a few at a time. */
  unread(scope: Scope, most: number): Promise<{ items: readonly Unread[]; total: number }>;
  watch(scope: Scope, options: ObjectWatch): Promise<void>;
  create(scope: Scope, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** Reads, changes, writes; again when somebody else wrote in between. `change` gets a copy that is its own. */
  update(
    address: Address,
    change: (current: KubeObject) => KubeObject,
    options?: WriteOptions,
  ): Promise<KubeObject>;
  /** JSON merge patch (RFC 7386). */
  patch(address: Address, patch: object, options?: WriteOptions): Promise<KubeObject>;
  /** The object as it was, or as it is when finalizers keep it. */
  delete(address: Address, options?: DeleteOptions): Promise<KubeObject>;
}

/** The registry as the server itself uses it: with what is served where, and with entries as they are stored. */
export interface ObjectRegistry extends Registry, Followed {
  readonly store: Store;
  readonly catalog: Catalog;
  /** Where objects of the request's kind are converted as they are read and written: then they are all in its version. */
  readonly converting?: Converting | undefined;
  /** The stored entry; fails with 404. */
  read(served: ServedResource, address: KeyParts): Promise<Entry>;
  /** The one that this process saw last, at once: see Store. Undefined where to read costs no more. */
  seen(served: ServedResource, address: KeyParts): Entry | undefined;
  readAll(served: ServedResource, cluster: string, namespace: string): Promise<ListResult>;
  /** An entry that was listed or watched, by its kind's definition in its own logical cluster: see defined.ts. */
  asDefined(served: ServedResource, cluster: string, entry: Entry, old?: boolean): Entry;
  /** As decodeStored; names the logical cluster when `cluster` is `*`. */
  decode(served: ServedResource, cluster: string, entry: Entry): KubeObject;
}
