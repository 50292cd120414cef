import type { ApiRequest, UserInfo } from '../kube/http.ts';
import type { Entry, Store } from '../storage/store.ts';
import type { PolicyDispatcher } from './admission/policy/dispatch.ts';
import type { WebhookDispatcher } from './admission/webhook/dispatch.ts';
import type { Aggregation } from './aggregation/aggregation.ts';
import type { AuditRecord } from './audit/record.ts';
import type { ServiceAccountTokens } from './authn/service-account.ts';
import type { Converter } from './conversion/converter.ts';
import type { BookmarkClock } from './handlers/watch/bookmarks.ts';
import type { Gate } from './limits/gate.ts';
import type { MetricsPage, Observer } from './observer.ts';
import type {
  AdmissionPlugin,
  Authenticator,
  AuthorizationMode,
  Authorizer,
  PodConnector,
  PodUsageReader,
  ServiceConnector,
} from './plugins.ts';
import type { Catalog } from './registry/catalog.ts';
import type { Paths } from './registry/paths.ts';
import type { ObjectRegistry } from './registry/types.ts';
import type { RequestInfo } from './request.ts';
import type { ServedResource } from './served.ts';
import type { RequestTrace, Tracer } from './tracer.ts';
import type { Warnings } from './warnings.ts';

/** What every handler may use; made once by createApiServer. */
export interface Core {
  store: Store;
  catalog: Catalog;
  /** Which logical cluster a path leads to. */
  paths: Paths;
  registry: ObjectRegistry;
  authorize: Authorizer;
  rulesFor: AuthorizationMode['rulesFor'];
  admission: readonly AdmissionPlugin[];
  /** What every Kubernetes admits by: priorities, default classes, limits, quotas. */
  builtin: readonly AdmissionPlugin[];
  /** Those of Kubernetes, not of where workloads run. */
  policies: PolicyDispatcher;
  webhooks: WebhookDispatcher;
  /** Pods of workloads are made by other API servers: who is to be asked about pods is asked about templates. */
  podsElsewhere: boolean;
  /** Asks the webhooks that definitions of custom resources name. */
  converter: Converter;
  /** Passes requests on to API servers that a logical cluster has of its own. */
  aggregation: Aggregation;
  connectPod: PodConnector | undefined;
  connectService: ServiceConnector | undefined;
  podUsage: PodUsageReader | undefined;
  limits: Limits;
  /** Absent where logical clusters have no limits. */
  gate: Gate | undefined;
  bookmarks: BookmarkClock;
  /** Aborts when the server is about to close: /readyz fails. */
  draining: AbortSignal;
  /** Checks of health by their names, beside the server's own; one that rejects fails. */
  health: Readonly<Record<string, () => Promise<void>>>;
  /** Aborts when the server closes: watches end. */
  closing: AbortSignal;
  /** Undefined where there is no key. */
  tokens: ServiceAccountTokens | undefined;
  /** Asked in order: who a request is from. */
  authenticators: readonly Authenticator[];
  gitVersion: string;
  observer: Observer | undefined;
  /** Undefined where no request is traced. */
  tracer: Tracer | undefined;
  metrics: MetricsPage | undefined;
}

/** One request past authentication. */
export interface Exchange {
  core: Core;
  request: ApiRequest;
  info: RequestInfo;
  user: UserInfo;
  /** Texts for `Warning: 299` headers. */
  warnings: Warnings;
  /** Undefined where nobody wants to know of it. */
  audit?: AuditRecord | undefined;
  /** Undefined where this one is not traced. */
  trace?: RequestTrace | undefined;
  /** The uids of the FlowSchema and the priority level that it was sorted into: for headers. */
  matched?: { flow: string; level: string };
  /** Whoever asks is told by then that it took too long, by performance.now(): nothing is to go on then. Absent of what lasts. */
  until?: number | undefined;
  /** Reads what follows the headers; absent where nothing does, or where all is here. */
  arriving?: () => Promise<Uint8Array>;
  /** Resolves when an object of so many bytes may be worked at; undefined: at once. Absent of what comes from inside. */
  longTurn?: ((bytes: number) => Promise<void> | undefined) | undefined;
}

/** One request about a resource that is served. */
export interface ResourceExchange extends Exchange {
  /** In the version of the URL. */
  served: ServedResource;
  /** In the version that is stored. */
  stored: ServedResource;
  /** The default roles or bindings are not written, nor will be for this request: they are shown beside what is. */
  beside?: boolean;
  /** Placements and what is said of them are read apart: see slices/exchange.ts. */
  apart?: boolean;
  /** Told of what was listed and is not for the answer, where that was kept for it. */
  dropped?(entry: Entry): void;
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
