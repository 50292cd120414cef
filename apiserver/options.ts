import type { Server } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type { GroupVersionKind } from '../kube/gvk.ts';
import type { ApiRequest, ApiResponse, Transport, UserInfo } from '../kube/http.ts';
import type { JsonObject, KubeObject } from '../kube/object.ts';
import type { ResourceInfo } from '../kube/schema/resource.ts';
import type { Schema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import type { ColumnDefinition } from '../kube/table/index.ts';
import type { Fence, Store } from '../storage/store.ts';
import type { Exchange } from './core.ts';
import type { Definition } from './registry/kinds/defined.ts';
import type { Registry } from './registry/types.ts';

export interface ApiServerOptions {
  store: Store;
  /** False: plain Kubernetes (a physical cluster): unprefixed paths only; `root` is the cluster in the keys. */
  logicalClusters: boolean;
  /** Served beside the built-ins. */
  resources?: readonly ServedResource[];
  /** Asked in order; the first answer counts; none: 401. */
  authenticate: readonly Authenticator[];
  /** PEM, PKCS #8, ECDSA P-256: signs ServiceAccounts' tokens and knows them again. */
  serviceAccountKey?: string;
  /** Default: system:masters may do everything, everyone else nothing but look at discovery. */
  authorize?: Authorizer;
  admission?: readonly AdmissionPlugin[];
  views?: readonly View[];
  connectPod?: PodConnector;
  connectService?: ServiceConnector;
  /** Overrides gitVersion of /version, e.g. `v1.36.3+atoll`. */
  version?: string;
  logger?: ServerLogger;
  limits?: Partial<Limits>;
}

export interface Limits {
  /** Connections at a time; beyond, they are closed as they come. */
  connections: number;
  /** Requests at a time, watches and logs apart; beyond: 429. 0: no limit. */
  readsInFlight: number;
  writesInFlight: number;
  bodyBytes: number;
  requestSeconds: number;
  /** A stream whose reader lets more than this wait, or stalls longer than stallSeconds, is cut. */
  streamBufferBytes: number;
  stallSeconds: number;
  /** While the server closes: how long a connection stays for another request, and until whoever does not come to an end is cut. */
  lingerSeconds: number;
  cutSeconds: number;
}

export interface ServerLogger {
  info(message: string, values?: Record<string, unknown>): void;
  error(message: string, values?: Record<string, unknown>): void;
}

/** What the TLS layer knows of the caller. `certificate` only when it was verified against the client CA. */
export interface Peer {
  certificate?: Pick<PeerCertificate, 'subject'>;
  address?: string;
}

/** `cluster` is the id of the logical cluster that the request is to; empty where there is none of that name. */
export type Authenticator = (
  request: ApiRequest,
  peer: Peer,
  cluster: string,
) => UserInfo | undefined | Promise<UserInfo | undefined>;

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
}

export interface Decision {
  allowed: boolean;
  reason?: string;
}

export type Authorizer = (attributes: Attributes) => Decision | Promise<Decision>;

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
  object?: KubeObject;
  old?: KubeObject;
  dryRun: boolean;
  /** True while mutating a new object: what it is called and when it was made is not decided. */
  fresh?: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as the client sent them. */
  readonly options?: JsonObject | undefined;
  registry: Registry;
  authorize: Authorizer;
  /** Adds a `Warning: 299` header to the answer. */
  warn(message: string): void;
}

/** Refuses by throwing a StatusError. All mutate run before all validate. */
export interface AdmissionPlugin {
  name: string;
  mutate?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}

/** A resource that is served: a built-in, one of ours, or a custom resource of one logical cluster. */
export interface ServedResource {
  info: ResourceInfo;
  /** Of the stored version; `{type: 'any'}` when nothing is known. */
  schema: Schema;
  /** Subresources beside those that the info names. */
  subresources?: { status?: boolean; scale?: ScalePaths };
  columns?: readonly CustomColumn[];
  /** The logical cluster it is served in; absent: in all of them. */
  cluster?: string;
  /** True for a CRD with several versions: what is stored may still say another version. */
  manyVersions?: boolean;
  /** True for kinds that come from outside the built-in table: items of a list keep kind and apiVersion. */
  custom?: boolean;
  /** The published OpenAPI v3 schema, for kinds that are not built in. */
  openapi?: unknown;
  /** JSON paths such as `.spec.color` that field selectors may use. */
  selectableFields?: readonly string[];
  /**
   * Without nulls that have no place, and with the metadata of resources inside read; `error` tells what cannot be. Of a
   * custom resource as it is read, from a client or from the store. Changes its argument.
   */
  coerce?(object: KubeObject): { object: KubeObject; error?: string };
  defaults?(object: KubeObject): KubeObject;
  /** Of a custom resource: what was stored by an older definition is read by this one (registry/defined.ts). */
  definition?: Definition;
  validate?(object: KubeObject, old: KubeObject | undefined, subresource: string): StatusCause[];
}

/** Where a custom resource keeps what autoscaling/v1 Scale shows: `.spec.replicas` and so on. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

export interface CustomColumn extends ColumnDefinition {
  jsonPath: string;
  /** In place of what is at jsonPath. */
  compute?(object: KubeObject): string;
}

/**
 * A virtual API at paths of its own, such as below `/syncers/`. Its requests pass the same rungs as all others; on that
 * of authorization it is asked itself.
 */
export interface View {
  /** Of a path as the URL has it. */
  owns(path: string): boolean;
  /** Asked about that path, with the method in lower case, or `watch`, for a verb. */
  authorize: Authorizer;
  handle(exchange: Exchange): Promise<ApiResponse>;
}

/** The API that really runs a reflected pod, and the pod's path there. `undefined`: it runs nowhere. */
export type PodConnector = (
  cluster: string,
  pod: KubeObject,
) =>
  | { transport: Transport; path: string }
  | undefined
  | Promise<{ transport: Transport; path: string } | undefined>;

/** An API of a cluster that runs a logical cluster's Service, and its path there. `undefined`: none does. */
export type ServiceConnector = (
  cluster: string,
  service: KubeObject,
) => Promise<{ transport: Transport; path: string } | undefined>;

/** An address, or the socket at which another process listens already. */
export type ListenOptions = ({ host: string; port: number } | { socket: Server }) & {
  /** PEM. Client certificates are verified against `ca`. */
  tls: { key: string; cert: string; ca: string };
};

export interface Listening {
  url: string;
  /** To be sent to a process that listens, too. */
  socket: Server;
  /** Requests since the start, connections now. */
  load(): { requests: number; connections: number };
  /** This share of the open connections is closed, each after its next answer. */
  shed(share: number): void;
  /** What is shown to whoever connects from now on. */
  show(tls: ListenOptions['tls']): void;
}

export interface ApiServer {
  /**
   * In-process, as `user`: the same rungs but for authentication. With `holding`, every write happens only while
   * that lease is held with that token: what a leader that was paused still has under way changes nothing.
   */
  transport(user: UserInfo, holding?: Fence): Transport;
  listen(options: ListenOptions): Promise<Listening>;
  readonly registry: Registry;
  /** Turns /readyz red and goes on serving, each connection for one more answer: whoever comes again looks elsewhere. */
  drain(): void;
  /** Drains and takes no more connections. */
  stopListening(): Promise<void>;
  /**
   * Stops to listen, ends watches cleanly, answers what is on its way, lets requests in flight finish; who does not
   * read or send is cut.
   */
  close(): Promise<void>;
}
