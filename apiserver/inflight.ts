import { DurationError, parseDuration } from '../kube/duration.ts';
import type { ApiResponse, UserInfo } from '../kube/http.ts';
import { badRequest, StatusError } from '../kube/status.ts';
import { mastersGroup } from './authz/masters.ts';
import type { Exchange, Limits } from './core.ts';
import { text } from './encode/respond.ts';
import type { Observer, Side } from './observer.ts';
import type { RequestInfo } from './request.ts';
import { Deadlines } from './wire/deadlines.ts';

const readVerbs = new Set(['get', 'list', 'head', 'options']);
const lastingSubresources = new Set(['log', 'exec', 'attach', 'portforward', 'proxy']);

/** Watches and logs last, and are not counted. https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ */
export function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || (subresource !== '' && lastingSubresources.has(subresource));
}

/** How many requests may be at work at a time, and for how long each. */
export class InFlight {
  readonly #limits: Limits;
  readonly #running = { read: 0, write: 0 };
  readonly #deadlines = new Deadlines();
  readonly #observer: Observer | undefined;

  constructor(limits: Limits, observer?: Observer) {
    this.#limits = limits;
    this.#observer = observer;
  }

  /** What `work` answers; a failure of any kind rejects. */
  run(exchange: Exchange, work: (exchange: Exchange) => Promise<ApiResponse>): Promise<ApiResponse> {
    const { info, request } = exchange;
    if (isLongRunning(info) || isHealth(info.path)) return work(exchange);
    const millis = this.#millisOf(info);
    const side = readVerbs.has(info.verb) ? 'read' : 'write';
    const most = side === 'read' ? this.#limits.readsInFlight : this.#limits.writesInFlight;
    // 0: no limit. An administrator always gets an answer, in the way and with the words of kube-apiserver.
    if (most > 0 && this.#running[side] >= most) {
      if (isPrivileged(exchange.user)) return this.#inTime(exchange, begin(work, exchange), millis, () => {});
      this.#observer?.terminated(request, info, 429);
      return Promise.resolve(tooMany());
    }
    this.#count(side, 1);
    // The work counts until it ends, even where its caller was told that it took too long.
    return this.#inTime(exchange, begin(work, exchange), millis, () => this.#count(side, -1));
  }

  #count(side: Side, more: number): void {
    this.#running[side] += more;
    this.#observer?.atWork(side, this.#running[side]);
  }

  #inTime(
    { request, info }: Exchange,
    work: Promise<ApiResponse>,
    millis: number,
    done: () => void,
  ): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const late = () => {
        this.#observer?.terminated(request, info, 504);
        reject(timedOut());
      };
      const inTime = this.#deadlines.add(millis, late);
      work.then(
        (response) => {
          inTime();
          done();
          resolve(response);
        },
        (error) => {
          inTime();
          done();
          reject(error);
        },
      );
    });
  }

  /** The client may ask for less time, not for more. Throws StatusError 400. */
  #millisOf({ query }: RequestInfo): number {
    const most = this.#limits.requestSeconds * 1000;
    const asked = query.get('timeout');
    if (asked === null || asked === '') return most;
    try {
      const millis = parseDuration(asked);
      return millis > 0 && millis < most ? millis : most;
    } catch (error) {
      if (!(error instanceof DurationError)) throw error;
      throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
    }
  }
}

function begin(work: (exchange: Exchange) => Promise<ApiResponse>, exchange: Exchange): Promise<ApiResponse> {
  try {
    return work(exchange);
  } catch (error) {
    return Promise.reject(error);
  }
}

export function isHealth(path: string): boolean {
  return /^\/(healthz|livez|readyz)(\/|$)/.test(path);
}

function isPrivileged(user: UserInfo): boolean {
  return user.groups.includes(mastersGroup);
}

function timedOut(): StatusError {
  return new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {});
}

function tooMany(): ApiResponse {
  return plain429('Too many requests, please try again later.', 1);
}

/** To who would watch a server that is about to go. */
export function shuttingDown(): ApiResponse {
  return plain429('The apiserver is shutting down, please try again later.', 5);
}

function plain429(message: string, retryAfterSeconds: number): ApiResponse {
  const response = text(429, `${message}\n`);
  return { ...response, headers: { ...response.headers, 'retry-after': String(retryAfterSeconds) } };
}
