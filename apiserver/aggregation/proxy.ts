import https from 'node:https';
import type { ApiRequest, ApiResponse, UserInfo } from '../../kube/http.ts';
import { StatusError } from '../../kube/status.ts';
import { isOwnController } from '../authn/controllers.ts';
import { type Egress, EgressError } from '../egress/dial.ts';
import { NotConnectedError } from '../forward/agent.ts';
import { ForwardError } from '../forward/connection.ts';
import type { Forwards } from '../forward/forwards.ts';
import { isLongRunning, type RequestInfo } from '../request.ts';
import { Contexts, readOnce } from '../webhook/contexts.ts';
import { connectionError, notAllowed } from '../webhook/go-text.ts';
import { Met, trustIssued } from '../webhook/issued.ts';
import type { ResolveServer } from '../webhook/resolve.ts';
import { isRedirect, lateError, redirected, tooMany, unavailable, unreached, upTo } from './answers.ts';
import type { AggregatedService } from './api-service.ts';
import type { RequestHeaderAuthorities } from './authority.ts';
import { sentHeaders } from './headers.ts';
import { PodWays, type Way } from './pods.ts';
import { type Sending, send } from './send.ts';
import { UnderWay } from './turns.ts';

/** One request past all rungs. */
export interface Asking {
  info: RequestInfo;
  request: ApiRequest;
  user: UserInfo;
}

export interface ProxyOptions {
  resolve: ResolveServer;
  /** To what is at an address. */
  egress: Egress;
  /** To what is in pods. */
  forwards: Forwards;
  /** Of an answer's beginning, and of all of one that does not last. */
  millis: number;
  closing: AbortSignal;
  underWay?: UnderWay;
}

/** Our controllers have others to look after. */
const ownMillis = 5_000;
const mostOwn = 8 << 20;
/** Of one object, which is read in one step: as much as a store of Kubernetes takes. */
const mostOfOne = 1536 << 10;

type Options = https.RequestOptions & { way?: Way };

/** One request to another API server of a logical cluster: how it is found, what it is told and shown, and for how long. */
export class AggregationProxy {
  readonly #options: ProxyOptions;
  readonly #authorities: RequestHeaderAuthorities;
  readonly #underWay: UnderWay;
  /** Each request to an address takes a connection of its own. */
  readonly #agent: https.Agent;
  /** The same, for authorities whose certificates bear their own name. */
  readonly #byIssuer: https.Agent;
  readonly #met = new Met();
  readonly #contexts = new Contexts();
  readonly #pods: PodWays;

  constructor(options: ProxyOptions, authorities: RequestHeaderAuthorities) {
    this.#options = options;
    this.#authorities = authorities;
    this.#underWay = options.underWay ?? new UnderWay();
    const agent = () =>
      readOnce(
        options.egress.guard(new https.Agent({ maxCachedSessions: 0, minVersion: 'TLSv1.2' })),
        this.#contexts,
      );
    this.#agent = agent();
    this.#byIssuer = trustIssued(agent());
    this.#pods = new PodWays(options.forwards);
  }

  /** Its answer, or that there is none. `user`: as whom it is asked. Throws StatusError 429. */
  async ask(exchange: Asking, service: AggregatedService, user: UserInfo): Promise<ApiResponse> {
    const { info, request } = exchange;
    const lasts = isLongRunning(info) || request.headers['upgrade'] !== undefined;
    const release = this.#underWay.take(info.cluster, lasts);
    if (release === undefined) throw tooMany();
    const { signal, over } = this.#bounded(exchange, lasts, release);
    try {
      const sent = await this.#sent(exchange, service, user, lasts);
      if (typeof sent === 'string') {
        over();
        // Whoever says what is available says why, too.
        return isOwnController(exchange.user) ? unreached(sent) : unavailable();
      }
      const response = await this.#send(sent, { body: request.body, signal, over });
      if (lasts) over.answered();
      if (isRedirect(response)) return redirected(response);
      if (!isOwnController(exchange.user)) return response;
      return { ...response, body: upTo(info.name === '' ? mostOwn : mostOfOne, response.body) };
    } catch (error) {
      over();
      if (error instanceof StatusError) throw error;
      return unreached(this.#why(error, service));
    }
  }

  close(): void {
    this.#agent.destroy();
    this.#byIssuer.destroy();
    this.#pods.close();
  }

  /** By the first way that there is. Only what was sent to nobody, or may be asked twice, is sent by another. */
  async #send(ways: readonly Options[], sending: Omit<Sending, 'options'>): Promise<ApiResponse> {
    let failure: unknown;
    const lost = new Set<string>();
    for (const { way, ...options } of ways) {
      if (way && lost.has(way.target.uid)) continue;
      const asking = way && { agent: way.agent, target: way.target, asking: sending.signal };
      try {
        return await this.#sendTo({ ...sending, options: { ...options, ...asking } });
      } catch (error) {
        if (sending.signal.aborted) throw error;
        failure = error;
        if (error instanceof NotConnectedError && way) {
          this.#pods.shun(way.target);
          lost.add(way.target.uid);
        } else if (!way?.kept || !(error as { reused?: boolean }).reused) throw error;
      }
    }
    throw failure;
  }

  /** Where all that speaks against a certificate is that it bears its issuer's name, it is asked anew by who signed it, and from then on at once. */
  async #sendTo(sending: Sending): Promise<ApiResponse> {
    const { options } = sending;
    const { ca, agent, rejectUnauthorized } = options;
    const byIssuer: Sending = {
      ...sending,
      options: { ...options, ...(agent === this.#agent ? { agent: this.#byIssuer } : { byIssuer: true }) },
    };
    if (rejectUnauthorized !== false && this.#met.has(ca)) return await send(byIssuer);
    try {
      return await send(sending);
    } catch (error) {
      const why = error instanceof NotConnectedError ? error.cause : error;
      if (!this.#met.learn(why, ca)) throw error;
      return await send(byIssuer);
    }
  }

  /** What is sent, by each way there is. */
  async #sent(
    { info, request }: Asking,
    { service, ca, insecure }: AggregatedService,
    user: UserInfo,
    lasts: boolean,
  ): Promise<Options[] | string> {
    const { cluster } = info;
    const route = await this.#options.resolve(cluster, service);
    if (typeof route === 'string') return route;
    const { certificate, privateKey } = await this.#authorities.certificate(cluster);
    const query = info.query.toString();
    const path = info.path.split('/').map(encodeURIComponent).join('/');
    const name = `${service.name}.${service.namespace}.svc`;
    const reads = request.method === 'GET' || request.method === 'HEAD';
    const options: Options = {
      method: request.method,
      path: query === '' ? path : `${path}?${query}`,
      servername: name,
      cert: certificate,
      key: privateKey,
      ...(ca !== undefined && { ca }),
      rejectUnauthorized: !insecure,
      headers: {
        ...sentHeaders(request, user),
        host: `${name}:${service.port}`,
        ...((request.body || !reads) && { 'content-length': request.body?.length ?? 0 }),
      },
    };
    if ('host' in route) return [{ ...options, agent: this.#agent, host: route.host, port: route.port }];
    const ways = this.#pods.to(cluster, service.namespace, route.pods, reads && !lasts);
    return ways.map((way) => ({ ...options, way }));
  }

  /** For how long: until the caller goes, the server closes, or there is no more time. */
  #bounded(
    { request, user }: Asking,
    lasts: boolean,
    release: () => void,
  ): { signal: AbortSignal; over: (() => void) & { answered(): void } } {
    const ended = new AbortController();
    const { closing, millis } = this.#options;
    const abort = () => ended.abort();
    const isOurs = isOwnController(user);
    const timer = setTimeout(() => ended.abort(lateError()), isOurs ? Math.min(millis, ownMillis) : millis);
    const sources = lasts ? [request.signal, closing] : [request.signal];
    for (const source of sources) {
      if (source?.aborted) abort();
      source?.addEventListener('abort', abort, { once: true });
    }
    const answered = () => clearTimeout(timer);
    const over = () => {
      answered();
      release();
      for (const source of sources) source?.removeEventListener('abort', abort);
    };
    return { signal: ended.signal, over: Object.assign(over, { answered }) };
  }

  #why(given: unknown, { service }: AggregatedService): string {
    const error = given instanceof NotConnectedError ? given.cause : given;
    const { name, namespace, port } = service;
    if (error instanceof ForwardError) return error.message;
    if (error instanceof DOMException && error.name === 'TimeoutError') return 'i/o timeout';
    const url = new URL(`https://${name}.${namespace}.svc:${port}`);
    if (error instanceof EgressError) return notAllowed(error.refusal, url);
    const { code, cause } = error as { code?: string; cause?: { name?: string } };
    if (code === 'ABORT_ERR')
      return cause?.name === 'TimeoutError' ? 'context deadline exceeded' : 'context canceled';
    return connectionError(error, url.hostname, { hostname: url.hostname, port: String(port) });
  }
}
