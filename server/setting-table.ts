import { homedir } from 'node:os';
import { join } from 'node:path';
import type { RequestHeaders } from '../apiserver/authn/request-header.ts';
import type { Bounds } from '../cluster/limits.ts';
import { type AuditSettings, auditSettings } from './audit/settings.ts';
import { authenticationSettings, type Setting } from './authentication/settings.ts';
import { authorizationSettings } from './authorization/settings.ts';
import type { CertificateFiles } from './certificate-files.ts';
import { encryptionSettings } from './encryption-settings.ts';
import { limitSettings } from './limit-settings.ts';
import { tracingSettings } from './tracing/settings.ts';

export const controllerSets = ['all', 'api'] as const;
export type Controllers = (typeof controllerSets)[number];

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What `atoll start` and `atoll demo` can be told. docs/reference/settings.md is this table for people. */
export interface Settings {
  dataDir: string;
  /** As storage/open.ts takes it; a password may be in it. */
  storage: string;
  /** Bytes; absent: no limit. */
  memoryBudget?: number;
  /** Bytes that must be free on the disk of the store for creates and updates. */
  diskReserve: number;
  listen: { host: string; port: number };
  /** As which address clients know the server; absent: as the one that it listens at. */
  advertise?: { host: string; port?: number };
  /** Names and addresses in the server's certificate, beside its own. */
  tlsSan: string[];
  /** The server's certificate, where it is not one of our own authority. */
  certificateFiles?: CertificateFiles;
  /** Of ServiceAccounts' tokens in root; of others below it. */
  serviceAccountIssuer: string;
  /** A file: whose tokens are taken beside our own. */
  authenticationConfig?: string;
  /** A file of static tokens. */
  tokenAuthFile?: string;
  enableBootstrapTokenAuth: boolean;
  /** A kubeconfig of a webhook that knows tokens. */
  authenticationTokenWebhookConfigFile?: string;
  /** A file: who decides who may do what, where that is not RBAC alone. */
  authorizationConfig?: string;
  /** Proxies that say for whom they speak. */
  requestHeader?: RequestHeaders & { clientCaFile: string };
  /** A file: of what values are encrypted in the store, and by which keys. */
  encryptionProviderConfig?: string;
  encryptionProviderConfigAutomaticReload: boolean;
  /** What is recorded of requests; absent: nothing. */
  audit?: AuditSettings;
  /** A file: which requests are traced, and who is told. */
  tracingConfigFile?: string;
  settleSeconds: number;
  controllers: Controllers;
  /** Requests at a time that read or write; 0: no limit. */
  maxRequestsInflight: number;
  maxMutatingRequestsInflight: number;
  /** Of each logical cluster but root, where its Workspace does not say it; absent: no limit. */
  logicalClusterMax: Bounds;
  /** How many processes may serve requests beside the first one. */
  servingProcesses: number;
  /** Whether controllers and syncers have a process of their own. */
  controllersProcess: boolean;
  /** How long /readyz fails before the server stops to serve. */
  shutdownDelay: number;
  /** CIDRs: where addresses that users name may lead, and where not. */
  egressAllow: string[];
  egressDeny: string[];
  logLevel: LogLevel;
}

/** What can be set: some of it says one part of what Settings has as one. */
export type SettingName =
  | Exclude<
      keyof Settings,
      'advertise' | 'certificateFiles' | 'requestHeader' | 'audit' | 'logicalClusterMax'
    >
  | keyof typeof auditSettings
  | keyof typeof limitSettings
  | 'advertiseAddress'
  | 'tlsCertFile'
  | 'tlsPrivateKeyFile'
  | 'requestheaderClientCaFile'
  | 'requestheaderAllowedNames'
  | 'requestheaderUsernameHeaders'
  | 'requestheaderUidHeaders'
  | 'requestheaderGroupHeaders'
  | 'requestheaderExtraHeadersPrefix';

/** One row per setting: the flag, its variable, what the file calls it (the flag without dashes), the default. */
export const settings: Record<SettingName, Setting> = {
  dataDir: {
    flag: 'data-dir',
    variable: 'ATOLL_DATA_DIR',
    placeholder: 'DIR',
    default: join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'atoll'),
    help: 'where the store and admin.kubeconfig live',
  },
  storage: {
    flag: 'storage',
    variable: 'ATOLL_STORAGE',
    placeholder: 'URL',
    default: 'level:DIR/store',
    help: 'level:DIRECTORY, or etcd://HOST:PORT,... that any number of servers share',
  },
  memoryBudget: {
    flag: 'memory-budget',
    variable: 'ATOLL_MEMORY_BUDGET',
    placeholder: 'SIZE',
    default: 'all',
    help: 'how much of the stored values stays in memory, such as 512Mi; of level: only',
  },
  diskReserve: {
    flag: 'disk-reserve',
    variable: 'ATOLL_DISK_RESERVE',
    placeholder: 'SIZE',
    default: '128Mi',
    help: 'creates and updates are refused while less is free on the disk; of level: only',
  },
  listen: {
    flag: 'listen',
    variable: 'ATOLL_LISTEN',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:6443',
    help: 'address of the API; port 0 picks a free one',
  },
  advertiseAddress: {
    flag: 'advertise-address',
    variable: 'ATOLL_ADVERTISE_ADDRESS',
    placeholder: 'HOST[:PORT]',
    default: 'that of --listen',
    help: 'where clients find the server, such as a load balancer: in kubeconfigs and its certificate',
  },
  tlsSan: {
    flag: 'tls-san',
    variable: 'ATOLL_TLS_SAN',
    placeholder: 'NAME',
    default: 'none',
    help: "another name or address in the server's certificate; may be repeated",
    repeatable: true,
  },
  tlsCertFile: {
    flag: 'tls-cert-file',
    variable: 'ATOLL_TLS_CERT_FILE',
    placeholder: 'FILE',
    default: 'issued',
    help: "the server's own certificate and those that signed it, PEM; read again when it changes",
  },
  tlsPrivateKeyFile: {
    flag: 'tls-private-key-file',
    variable: 'ATOLL_TLS_PRIVATE_KEY_FILE',
    placeholder: 'FILE',
    default: 'issued',
    help: 'its key, PEM',
  },
  ...authenticationSettings,
  ...authorizationSettings,
  ...encryptionSettings,
  ...auditSettings,
  ...tracingSettings,
  settleSeconds: {
    flag: 'settle-seconds',
    variable: 'ATOLL_SETTLE_SECONDS',
    placeholder: 'N',
    default: '2',
    help: 'how long a joining copy must stay ready before the old one shrinks',
  },
  controllers: {
    flag: 'controllers',
    variable: 'ATOLL_CONTROLLERS',
    placeholder: 'WHICH',
    default: 'all',
    help: 'all, or api: only what kube-apiserver does itself, where others lead or nobody should',
  },
  maxRequestsInflight: {
    flag: 'max-requests-inflight',
    variable: 'ATOLL_MAX_REQUESTS_INFLIGHT',
    placeholder: 'N',
    default: '400',
    help: 'with the next one, how many requests may be at work at a time, shared out by FlowSchemas; 0: no sharing',
  },
  maxMutatingRequestsInflight: {
    flag: 'max-mutating-requests-inflight',
    variable: 'ATOLL_MAX_MUTATING_REQUESTS_INFLIGHT',
    placeholder: 'N',
    default: '200',
    help: 'added to it',
  },
  ...limitSettings,
  servingProcesses: {
    flag: 'serving-processes',
    variable: 'ATOLL_SERVING_PROCESSES',
    placeholder: 'N',
    default: 'auto',
    help: 'how many processes may serve beside the first while that is busy; auto: two less than processors',
  },
  controllersProcess: {
    flag: 'controllers-process',
    variable: 'ATOLL_CONTROLLERS_PROCESS',
    placeholder: 'WHETHER',
    default: 'auto',
    help: 'on: controllers and syncers have a process of their own, so that users are answered while they work; off; auto: on with two processors',
  },
  shutdownDelay: {
    flag: 'shutdown-delay',
    variable: 'ATOLL_SHUTDOWN_DELAY',
    placeholder: 'SECONDS',
    default: '0',
    help: 'how long /readyz fails before a server that was told to stop does',
  },
  egressAllow: {
    flag: 'egress-allow',
    variable: 'ATOLL_EGRESS_ALLOW',
    placeholder: 'CIDR',
    default: 'none',
    help: 'addresses of webhooks that are called though they are of this machine, link-local or denied; may be repeated',
    repeatable: true,
  },
  egressDeny: {
    flag: 'egress-deny',
    variable: 'ATOLL_EGRESS_DENY',
    placeholder: 'CIDR',
    default: 'none',
    help: 'addresses of webhooks and clusters that are not called, such as 10.0.0.0/8; may be repeated',
    repeatable: true,
  },
  logLevel: {
    flag: 'log-level',
    variable: 'ATOLL_LOG_LEVEL',
    placeholder: 'LEVEL',
    default: 'info',
    help: `${logLevels.join(', ')}; logs are JSON lines on stderr`,
  },
};
