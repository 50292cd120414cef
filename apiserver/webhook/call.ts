import https from 'node:https';
import { isIP } from 'node:net';
import { encodeJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/object.ts';
import { Pieces } from '../../kube/pieces.ts';
import { isTimeout, within } from '../../kube/within.ts';
import { type Egress, EgressError } from '../egress/dial.ts';
import type { Tracer } from '../tracer.ts';
import { askedAgain, type Refusable } from './again.ts';
import { Contexts, readOnce } from './contexts.ts';
import { connectionError, notAllowed, refusedError } from './go-text.ts';
import { Met, trustIssued } from './issued.ts';
import { Reading, type Take, WebhookCallError } from './reading.ts';
import { type ClientConfig, postedUrl, urlOf } from './reference.ts';
import type { Resolve, Route } from './resolve.ts';
import { AnswerRoom, type Held } from './room.ts';

export { WebhookCallError } from './reading.ts';

export interface WebhookCall {
  cluster: string;
  config: ClientConfig;
  timeoutSeconds: number;
  /** Where there is less time than that. */
  millis?: number;
  /** A review: kind, apiVersion, request. */
  review: JsonObject;
  signal?: AbortSignal;
  /** How long an answer may be, by how long the review is that was sent. */
  maxAnswer?(sent: number): number;
}

const mostAnswer = 8 * 1024 * 1024;

/** POSTs reviews. Connections are kept for the next review of the same webhook, and close with `close`. */
export class WebhookCaller {
  readonly #agent: https.Agent;
  /** For authorities whose certificates bear their own name. */
  readonly #byIssuer: https.Agent;
  readonly #met = new Met();
  readonly #reading = new Reading();
  readonly #room: AnswerRoom;
  readonly #resolve: Resolve;
  readonly #tracer: Tracer | undefined;

  constructor(resolve: Resolve, egress: Egress, tracer?: Tracer, room = new AnswerRoom()) {
    this.#room = room;
    this.#resolve = resolve;
    this.#tracer = tracer;
    const options = { keepAlive: true, maxFreeSockets: 4, minVersion: 'TLSv1.2' } as const;
    const contexts = new Contexts();
    const guarded = (more: https.AgentOptions) =>
      readOnce(egress.guard(new https.Agent({ ...options, ...more })), contexts);
    this.#agent = guarded({});
    this.#byIssuer = trustIssued(guarded({ maxCachedSessions: 0 }));
  }

  /**
   * What `take` makes of the decoded answer, of the kind that was asked: until it is done others wait with theirs, so that it waits
   * for nobody. Fails with WebhookCallError.
   */
  post<T>(call: WebhookCall, take: Take<T>): Promise<T> {
    const held = this.#room.begin(call.cluster);
    const answered = within(call.millis ?? call.timeoutSeconds * 1000, call.signal, async (signal) => {
      const send = () => this.#send(call, held, signal);
      const asked = askedAgain(send, signal).catch((error) => {
        throw error === signal.reason ? ended(call, signal) : error;
      });
      const answer = await asked;
      const { status, type = 'application/json', body } = answer;
      if (status < 200 || status > 299) {
        throw new WebhookCallError(refusedError(status, Buffer.from(body).toString(), answer.type));
      }
      if (body.length === 0) {
        throw new WebhookCallError(`0-length response with status code: ${status} and content type: ${type}`);
      }
      return this.#reading.read(body, call, signal, take).catch((error) => {
        throw signal.aborted && error === signal.reason ? ended(call, signal) : error;
      });
    });
    return answered.finally(() => held.release());
  }

  close(): void {
    this.#agent.destroy();
    this.#byIssuer.destroy();
  }

  async #send(call: WebhookCall, held: Held, signal: AbortSignal): Promise<Answer> {
    const { config, cluster, timeoutSeconds } = call;
    const posted = postedUrl(config, timeoutSeconds);
    const body = Buffer.from(`${encodeJson(call.review)}\n`);
    const most = call.maxAnswer?.(body.length) ?? mostAnswer;
    const refuse = (why: string) => refused(call, why);
    let to: { hostname: string; port: string } | undefined;
    try {
      const route = await this.#resolve(cluster, config);
      if (typeof route === 'string') throw refuse(route);
      if ('transport' in route) return await viaApi(route, posted, { body, signal, most, held });
      to = { hostname: route.host, port: String(route.port) };
      const request = { config, route, body, signal, most, held, search: new URL(posted).search };
      return await this.#direct(request).catch((error) => {
        // It is asked anew by who signed it, and from then on at once.
        if (this.#met.learn(error, config.ca)) return this.#direct(request);
        // The other end may close a kept connection in the moment in which it is used again.
        if (!(error as { reused?: boolean }).reused) throw error;
        return this.#direct(request);
      });
    } catch (error) {
      if (error instanceof WebhookCallError) throw error;
      if (signal.aborted) throw ended(call, signal);
      if (error instanceof EgressError) throw refuse(notAllowed(error.refusal, urlOf(config)));
      throw refuse(connectionError(error, urlOf(config).hostname, to));
    }
  }

  #direct(of: Direct): Promise<Answer> {
    const { config, route, body, signal, most, held, search } = of;
    const agent = this.#met.has(config.ca) ? this.#byIssuer : this.#agent;
    const url = urlOf(config);
    const name = url.hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve, reject) => {
      const request = https.request({
        agent,
        method: 'POST',
        path: `${url.pathname}${search}`,
        host: route.host,
        port: route.port,
        signal,
        ...(config.ca !== undefined && { ca: config.ca }),
        servername: isIP(name) ? '' : name,
        headers: {
          ...headers,
          ...this.#tracer?.headers(),
          host: url.host,
          'content-length': body.length,
        },
      });
      request.on('error', (error) => {
        const stale = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
        reject(Object.assign(error, { reused: stale }));
      });
      request.on('response', (incoming) => {
        const { 'content-type': type, 'retry-after': retryAfter } = incoming.headers;
        const status = incoming.statusCode ?? 0;
        const said = { ...(type !== undefined && { type }), ...(retryAfter !== undefined && { retryAfter }) };
        collected(incoming, most, held).then((body) => resolve({ status, body, ...said }), reject);
      });
      request.end(body);
    });
  }
}

interface Direct {
  config: ClientConfig;
  route: { host: string; port: number };
  body: Buffer;
  signal: AbortSignal;
  most: number;
  held: Held;
  search: string;
}

function refused({ config, timeoutSeconds }: WebhookCall, why: string): WebhookCallError {
  return new WebhookCallError(`Post ${JSON.stringify(postedUrl(config, timeoutSeconds))}: ${why}`);
}

function ended(call: WebhookCall, signal: AbortSignal): WebhookCallError {
  return refused(call, isTimeout(signal) ? 'context deadline exceeded' : 'context canceled');
}

interface Answer extends Refusable {
  type?: string;
  body: Uint8Array;
}

const headers = {
  'content-type': 'application/json',
  accept: 'application/json, */*',
  'user-agent': 'kube-apiserver-admission',
};

async function viaApi(
  route: Extract<Route, { transport: unknown }>,
  posted: string,
  { body, signal, most, held }: { body: Uint8Array; signal: AbortSignal; most: number; held: Held },
): Promise<Answer> {
  const { pathname, search } = new URL(posted);
  const url = `${route.path}${pathname}${search}`;
  const response = await route.transport({ method: 'POST', url, headers, body, signal, streams: true });
  const given = response.body instanceof Uint8Array ? [response.body] : response.body;
  const retryAfter = response.headers['retry-after'];
  const said = typeof retryAfter === 'string' && { retryAfter };
  return { status: response.status, body: await collected(given, most, held), ...said };
}

/** Whoever answers more is not read to the end. */
async function collected(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  most: number,
  held: Held,
): Promise<Uint8Array> {
  const pieces = new Pieces();
  for await (const piece of body) {
    pieces.add(piece);
    if (pieces.length > most) throw new WebhookCallError('http: request body too large');
    held.upTo(pieces.length);
  }
  return pieces.whole();
}
