import type { PeerCertificate } from 'node:tls';
import type { PodMetrics } from '../cluster/pod-metrics.ts';
import type { Selectors } from '../kube/authorization/review.ts';
import type { GroupVersionKind } from '../kube/gvk.ts';
import type { ApiRequest, Transport, UserInfo } from '../kube/http.ts';
import type { Later } from '../kube/later.ts';
import type { JsonObject, KubeObject, OwnerReference } from '../kube/object.ts';
import type { PolicyRule } from '../kube/rbac/rule.ts';
import type { Registry } from './registry/types.ts';
import type { ServedResource } from './served.ts';

/** What the TLS layer knows of the caller. `certificate` only when it was verified against the client CA. */
export interface Peer {
  certificate?: Pick<PeerCertificate, 'subject'> & Partial<Pick<PeerCertificate, 'valid_to'>>;
  /** The common name in a verified certificate of a trusted proxy, which itself is nobody. */
  proxy?: string;
  /** Until when that certificate is good, in ms since the epoch: a connection may outlast it. */
  proxyUntil?: number;
  address?: string;
}

/** `cluster` is the id of the logical cluster that the request is to; empty where there is none of that name. */
export type Authenticator = (request: ApiRequest, peer: Peer, cluster: string) => Later<UserInfo | undefined>;

/** One question to the authorizer. `path` is set for, and only for, a request about no resource. */
export interface Attributes {
  user: UserInfo;
  /** The logical cluster, `*` for all of them. */
  cluster: string;
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  path?: string;
  /** Of a list, a watch, or what a review asks: by what it leaves objects out. Read only where somebody wants to know. */
  selectors?(): Selectors;
}

export interface Decision {
  allowed: boolean;
  /** Nobody else is asked. */
  denied?: true;
  reason?: string;
  /** What kept it from being decided; for whoever asked. */
  error?: string;
}

export type Authorizer = (attributes: Attributes) => Later<Decision>;

/** What a user may do, as far as it can be told. */
export interface UserRules {
  rules: readonly PolicyRule[];
  /** There may be more. */
  incomplete?: true;
  error?: string;
}

/** One of those that decide, or all in their order. Asked past the borders of logical clusters: see authz/borders.ts. */
export interface AuthorizationMode {
  authorize: Authorizer;
  rulesFor(cluster: string, user: UserInfo, namespace: string): UserRules;
}

/** One write on its way to the registry. Mutating plugins change `object` in place. */
export interface AdmissionRequest {
  user: UserInfo;
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  cluster: string;
  /** In the version that is stored, in which `object` and `old` are. */
  stored: ServedResource;
  /** In the version of the URL. */
  requested: ServedResource;
  /** What `object` and `old` are when they are not the resource's kind: Scale, Eviction, Binding. */
  kind?: GroupVersionKind;
  subresource: string;
  namespace: string;
  name: string;
  /** Deleted as one of a collection: policies and webhooks see that nobody said its name. */
  collection?: boolean;
  object?: KubeObject;
  old?: KubeObject;
  dryRun: boolean;
  /** True while mutating a new object: what it is called and when it was made is not decided. */
  fresh?: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions as the client sent them; of a patch those of what becomes of it. */
  readonly options?: JsonObject | undefined;
  /** Of a PATCH: the patch, in whatever dialect, as the client sent it. */
  readonly patch?: Uint8Array | undefined;
  /** As of the Exchange. */
  readonly until?: number | undefined;
  registry: Registry;
  authorize: Authorizer;
  /** An object of a kind in one of its versions; a webhook may have to convert it. */
  inVersion(object: KubeObject, as: ServedResource): Later<KubeObject>;
  /** Adds a `Warning: 299` header to the answer. */
  warn(message: string): void;
  /** Has the request's audit event say so; what it says already stays. Absent where none is written. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
}

/** Refuses by throwing a StatusError. All mutate run before all validate. */
export interface AdmissionPlugin {
  name: string;
  mutate?(request: AdmissionRequest): Later<void>;
  validate?(request: AdmissionRequest): Later<void>;
}

/** The API that really runs a reflected pod, and the pod's path there. */
export interface PodRoute {
  transport: Transport;
  path: string;
  /** Of these owners those that are there, too, as they are called there. */
  ownersThere?(owners: readonly OwnerReference[]): Promise<OwnerReference[]>;
}

/** `undefined`: it runs nowhere. */
export type PodConnector = (cluster: string, pod: KubeObject) => Later<PodRoute | undefined>;

/** What pods of a logical cluster use where they run, of those of which that is known; a sentence for each cluster that does not tell. */
export type PodUsageReader = (
  cluster: string,
  pods: readonly KubeObject[],
  signal?: AbortSignal,
) => Promise<{
  found: ReadonlyMap<KubeObject, PodMetrics>;
  unknown: readonly string[];
  /** Some cluster has told, were it of no pod. */
  answered: boolean;
}>;

/** An API of a cluster that runs a logical cluster's Service, and its path there. `undefined`: none does. */
export type ServiceConnector = (
  cluster: string,
  service: KubeObject,
) => Promise<{ transport: Transport; path: string } | undefined>;
