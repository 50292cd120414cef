import type { ApiRequest, ApiResponse, UserInfo } from '../kube/http.ts';
import type { Peer } from './plugins.ts';
import type { RequestInfo } from './request.ts';

/** Wants to know how long the steps of requests take, of some of them. It neither waits nor throws. */
export interface Tracer {
  /**
   * Of a request that came at `began`, by performance.now(), from `user`, over the network where there is a `peer`.
   * Undefined: nobody wants to know, nor is there a trace to pass on.
   */
  begin(
    request: ApiRequest,
    info: RequestInfo,
    user: UserInfo,
    peer: Peer | undefined,
    began: number,
  ): RequestTrace | undefined;
  /** A call of `work` to somebody else, for the request that is under way. */
  call<T>(name: string, attributes: TraceAttributes, work: () => Promise<T>): Promise<T>;
  /** What requests that are made for the one under way say of it. */
  headers(): Readonly<Record<string, string>> | undefined;
}

export type TraceAttributes = Readonly<Record<string, string | number>>;

/** One request, whose steps somebody wants to know. */
export interface RequestTrace {
  /** All that is begun within `work`, now or later, belongs to this request until it is answered. */
  run<A extends unknown[], T>(work: (...args: A) => T, ...args: A): T;
  /** It has just climbed this rung. */
  passed(rung: string): void;
  /** What is begun from now on is not for it. */
  answered(response: ApiResponse): void;
  /** The answer was given as a whole. */
  over(): void;
}
