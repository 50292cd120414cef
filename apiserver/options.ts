import type { Server } from 'node:net';
import type { ApiRequest, ApiResponse, Transport, UserInfo } from '../kube/http.ts';
import type { Fence, Store } from '../storage/store.ts';
import type { AuditOptions } from './audit/audit.ts';
import type { TokenKeys } from './authn/keys.ts';
import type { Exchange, Limits } from './core.ts';
import type { Egress } from './egress/dial.ts';
import type { Gate } from './limits/gate.ts';
import type { MetricsPage, Observer } from './observer.ts';
import type {
  AdmissionPlugin,
  Authenticator,
  AuthorizationMode,
  Authorizer,
  Peer,
  PodConnector,
  PodUsageReader,
  ServiceConnector,
} from './plugins.ts';
import type { Registry } from './registry/types.ts';
import type { ServedResource } from './served.ts';
import type { Tracer } from './tracer.ts';

export interface ApiServerOptions {
  store: Store;
  /** False: plain Kubernetes (a physical cluster): unprefixed paths only; `root` is the cluster in the keys. */
  logicalClusters: boolean;
  /** Served beside the built-ins. */
  resources?: readonly ServedResource[];
  /** Asked in order; the first answer counts; none: 401. */
  authenticate: readonly Authenticator[];
  /** Asked when nobody else knows: they ask others. */
  authenticateLast?: readonly Authenticator[];
  /** Who shows no credentials, if that is anybody; default: see authn/anonymous.ts. */
  anonymous?: (request: ApiRequest) => UserInfo | undefined;
  /** Sign ServiceAccounts' tokens and know them again. */
  accountKeys?: TokenKeys;
  /** Of those tokens in root. Default: https://kubernetes.default.svc. */
  accountIssuer?: string;
  /** Whether bootstrap tokens are taken. */
  bootstrapTokens?: boolean;
  /** Default: system:masters may do everything, everyone else what roles of the logical cluster let them. */
  authorize?: Authorizer;
  /** What decides in place of RBAC alone, with that at hand. */
  authorizers?(rbac: AuthorizationMode): AuthorizationMode;
  /** Asked in place of all that, with it at hand. */
  guard?(authorize: Authorizer): Authorizer;
  admission?: readonly AdmissionPlugin[];
  /** See Core. Default: no. */
  podsElsewhere?: boolean;
  views?: readonly View[];
  connectPod?: PodConnector;
  connectService?: ServiceConnector;
  podUsage?: PodUsageReader;
  /** The way to addresses that users name. Default: no rules of the administrator's. */
  egress?: Egress;
  /** Overrides gitVersion of /version, e.g. `v1.36.3+atoll`. */
  version?: string;
  /** Absent: nothing of what is asked is recorded. */
  audit?: AuditOptions;
  logger?: ServerLogger;
  /** Told of every request, from outside and from inside. */
  observer?: Observer;
  /** Wants to know the steps of requests, from outside and from inside. */
  tracer?: Tracer | undefined;
  /** What /healthz, /livez and /readyz check beside the store, by names; what rejects fails. */
  health?: Readonly<Record<string, () => Promise<void>>>;
  /** What /metrics of root says; absent: there is none. */
  metrics?: MetricsPage;
  limits?: Partial<Limits>;
  /** How many may be served at a time by all processes together, in the order that root's FlowSchemas say. Default: see limits. */
  seats?: number;
  /** The limits of logical clusters; absent: there are none. */
  gate?: Gate;
}

export interface ServerLogger {
  /** Absent where nobody looks: what it would be told costs time. */
  debug?(message: string, values?: Record<string, unknown>): void;
  info(message: string, values?: Record<string, unknown>): void;
  error(message: string, values?: Record<string, unknown>): void;
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

/** An address, or the socket at which another process listens already: asked for when all is ready to answer there. */
export type ListenOptions = ({ host: string; port: number } | { socket: () => Promise<Server> }) & {
  /** PEM. Client certificates are verified against `ca`, those of trusted proxies against `proxyCa`. */
  tls: { key: string; cert: string; ca: string; proxyCa?: string };
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
  /** As from the network, without a socket: it is asked who `peer` is, and what the request shows. */
  receive(request: ApiRequest, peer: Peer): Promise<ApiResponse>;
  listen(options: ListenOptions): Promise<Listening>;
  readonly registry: Registry;
  /** Brings the default roles that an earlier version wrote up to date; how many logical clusters' kinds. */
  renewDefaultRoles(): Promise<number>;
  /** So many processes share the seats from now on: default 1. */
  among(processes: number): void;
  /** Has every watch of objects say how far it is, where it is not behind. For who asks in this process, and seldom. */
  tellProgress(): void;
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
