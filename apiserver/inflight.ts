import { DurationError, parseDuration } from '../kube/duration.ts';
import type { ApiResponse, UserInfo } from '../kube/http.ts';
import { badRequest, StatusError } from '../kube/status.ts';
import { isOwnController } from './authn/controllers.ts';
import { mastersGroup } from './authz/masters.ts';
import type { Exchange, Limits } from './core.ts';
import { text } from './encode/text.ts';
import type { Observer, Side } from './observer.ts';
import { isLongRunning, type RequestInfo } from './request.ts';
import { Deadlines } from './wire/deadlines.ts';

const readVerbs = new Set(['get', 'list', 'head', 'options']);

/** What a request comes to; `millis`: how long it may take. */
export type Work = (exchange: Exchange, millis: number) => Promise<ApiResponse>;

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
  run(exchange: Exchange, work: Work): Promise<ApiResponse> {
    const { info, request } = exchange;
    if (isLongRunning(info) || isHealth(info.path)) return work(exchange, this.#limits.requestSeconds * 1000);
    const millis = this.#millisOf(info);
    exchange.until = performance.now() + millis;
    const side = readVerbs.has(info.verb) ? 'read' : 'write';
    const most = side === 'read' ? this.#limits.readsInFlight : this.#limits.writesInFlight;
    // 0: no limit. An administrator always gets an answer, in the way and with the words of kube-apiserver.
    if (most > 0 && this.#running[side] >= most) {
      if (isPrivileged(exchange.user))
        return this.#inTime(exchange, begin(work, exchange, millis), millis, () => {});
      this.#observer?.terminated(request, info, 429);
      return Promise.resolve(tooMany());
    }
    this.#count(side, 1);
    // The work counts until it ends, even where its caller was told that it took too long.
    return this.#inTime(exchange, begin(work, exchange, millis), millis, () => this.#count(side, -1));
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

function begin(work: Work, exchange: Exchange, millis: number): Promise<ApiResponse> {
  try {
    return work(exchange, millis);
  } catch (error) {
    return Promise.reject(error);
  }
}

export function isHealth(path: string): boolean {
  return /^\/(healthz|livez|readyz)(\/|$)/.test(path);
}

function isPrivileged(user: UserInfo): boolean {
  return isOwnController(user) || user.groups.includes(mastersGroup);
}

function timedOut(): StatusError {
  return new StatusError(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout', {});
}

export function tooMany(): ApiResponse {
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
