import type { Duplex } from 'node:stream';
import type { WatchEvent } from './object.ts';

/**
 * One exchange with a Kubernetes API, free of sockets: what the API server's ladder takes and gives, what the
 * client sends over HTTPS, and what joins the two inside one process.
 */
export interface ApiRequest {
  method: string;
  /** Path and query, still percent-encoded: `/api/v1/pods?limit=5`. */
  url: string;
  /** As it was sent, where `url` says it more fully. */
  sentUrl?: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The values of each header as they came: `headers` has those that came more than once in one, with commas. */
  readonly distinct?: Readonly<Record<string, readonly string[] | undefined>>;
  body?: Uint8Array;
  /** Ends the exchange, a watch included. */
  signal?: AbortSignal;
  /** The answer's body may go on for as long as it is read, whatever the URL says. */
  streams?: boolean;
  /** What of an answer is longer fails with ETOOLARGE, where it comes over a wire; absent: as long as the wire takes. */
  maxBytes?: number;
  /** What this exchange is called in answers, logs and audit events, once it is served. */
  auditId?: string;
  /** Who asks is in this process, and takes what a watch tells as it is: see ApiResponse.events. */
  objects?: boolean;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[]>;
  /** Bytes for an ordinary answer; a stream for watches and logs. */
  body: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * With status 101, to a request with an `upgrade` header: the connection from here on, both ways, in the protocol
   * that was agreed on. Whoever receives the answer owns it, and ends it.
   */
  tunnel?: Duplex;
  /** A watch's, for a request that takes objects: in place of the body. Others see the same: nobody may change them. */
  events?: AsyncIterable<readonly WatchEvent[]>;
}

export type Transport = (request: ApiRequest) => Promise<ApiResponse>;

/** Who asks, as authentication found out. */
export interface UserInfo {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}
