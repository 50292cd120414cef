/** By what each side of a connection proves who it is. */
export interface EtcdSecrets {
  /** PEM texts. `ca` for the server's certificate; `cert` and `key` when etcd wants the client's. */
  tls?: { ca?: string | Uint8Array; cert?: string | Uint8Array; key?: string | Uint8Array };
  password?: string;
}

export interface EtcdOptions extends EtcdSecrets {
  /** `host:port` or `https://host:port`; the others are tried when one fails. All must be of one cluster. */
  endpoints: readonly string[];
  /** Everything is kept below it; default `/atoll`. */
  prefix?: string;
  username?: string;
  /** Reads `tls` and `password` again, where files have them: see followSecrets. */
  reread?: () => Promise<EtcdSecrets>;
  /** How often; default 10 s. */
  secretsMs?: number;
  logger?: EtcdLogger;
  /** How long etcd may stay silent before a call fails as `unavailable`; default 15 s. */
  patienceMs?: number;
  /** Closes the store. */
  signal?: AbortSignal;
  /** `false`: somebody else compacts, for example etcd itself. */
  compaction?: Partial<CompactionOptions> | false;
}

export interface CompactionOptions {
  /** How long history is kept; also how often it is cut. Longer than `patienceMs`: marks of writes go with it. */
  intervalMs: number;
  /** After so many seconds without a sign of life another server takes over; at least 2, as etcd demands. */
  leaseSeconds: number;
}

export const DEFAULT_COMPACTION: CompactionOptions = { intervalMs: 5 * 60_000, leaseSeconds: 15 };

/** Structured, as pino offers it: a constant message, and what varies in `fields`. */
export interface EtcdLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
