import https from 'node:https';
import { isIP } from 'node:net';
import { decodeJsonInTurns, encodeJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/object.ts';
import { othersFirst } from '../../kube/others.ts';
import { isRecord } from '../../kube/untyped.ts';
import { isTimeout, within } from '../../kube/within.ts';
import { type Egress, EgressError } from '../egress/dial.ts';
import type { Tracer } from '../tracer.ts';
import { connectionError, notAllowed, refusedError } from './go-text.ts';
import { type ClientConfig, postedUrl, urlOf } from './reference.ts';
import type { Resolve, Route } from './resolve.ts';

/** Nobody was asked, or what came back is no answer. The message is kube-apiserver's, without what it was for. */
export class WebhookCallError extends Error {}

export interface WebhookCall {
  cluster: string;
  config: ClientConfig;
  timeoutSeconds: number;
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
  readonly #resolve: Resolve;
  readonly #tracer: Tracer | undefined;

  constructor(resolve: Resolve, egress: Egress, tracer?: Tracer) {
    this.#resolve = resolve;
    this.#tracer = tracer;
    this.#agent = egress.guard(
      new https.Agent({ keepAlive: true, maxFreeSockets: 4, minVersion: 'TLSv1.2' }),
    );
  }

  /** The decoded answer, of the kind that was asked. Fails with WebhookCallError. */
  async post(call: WebhookCall): Promise<JsonObject> {
    const answer = await this.#send(call);
    if (answer.status < 200 || answer.status > 299) {
      throw new WebhookCallError(refusedError(answer.status, Buffer.from(answer.body).toString()));
    }
    if (answer.body.length === 0) {
      const type = answer.type ?? 'application/json';
      throw new WebhookCallError(
        `0-length response with status code: ${answer.status} and content type: ${type}`,
      );
    }
    return decodeReview(answer.body, call);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(call: WebhookCall): Promise<Answer> {
    return within(call.timeoutSeconds * 1000, call.signal, (signal) => this.#sendWithin(call, signal));
  }

  async #sendWithin(call: WebhookCall, signal: AbortSignal): Promise<Answer> {
    const { config, cluster, timeoutSeconds } = call;
    const posted = postedUrl(config, timeoutSeconds);
    const body = Buffer.from(`${encodeJson(call.review)}\n`);
    const most = call.maxAnswer?.(body.length) ?? mostAnswer;
    const refuse = (why: string) => new WebhookCallError(`Post ${JSON.stringify(posted)}: ${why}`);
    let to: { hostname: string; port: string } | undefined;
    try {
      const route = await this.#resolve(cluster, config);
      if (typeof route === 'string') throw refuse(route);
      if ('transport' in route) return await viaApi(route, posted, { body, signal, most });
      to = { hostname: route.host, port: String(route.port) };
      const request = { config, route, body, signal, most, search: new URL(posted).search };
      return await this.#direct(request).catch((error) => {
        // The other end may close a kept connection in the moment in which it is used again.
        if (!(error as { reused?: boolean }).reused) throw error;
        return this.#direct(request);
      });
    } catch (error) {
      if (error instanceof WebhookCallError) throw error;
      if (isTimeout(signal)) throw refuse('context deadline exceeded');
      if (signal.aborted) throw refuse('context canceled');
      if (error instanceof EgressError) throw refuse(notAllowed(error.refusal, urlOf(config)));
      throw refuse(connectionError(error, urlOf(config).hostname, to));
    }
  }

  #direct(of: {
    config: ClientConfig;
    route: { host: string; port: number };
    body: Buffer;
    signal: AbortSignal;
    most: number;
    search: string;
  }): Promise<Answer> {
    const { config, route, body, signal, most, search } = of;
    const url = urlOf(config);
    const name = url.hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve, reject) => {
      const request = https.request({
        agent: this.#agent,
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
        const type = incoming.headers['content-type'];
        const status = incoming.statusCode ?? 0;
        collected(incoming, most).then(
          (body) => resolve({ status, body, ...(type !== undefined && { type }) }),
          reject,
        );
      });
      request.end(body);
    });
  }
}

interface Answer {
  status: number;
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
  { body, signal, most }: { body: Uint8Array; signal: AbortSignal; most: number },
): Promise<Answer> {
  const { pathname, search } = new URL(posted);
  const url = `${route.path}${pathname}${search}`;
  const response = await route.transport({ method: 'POST', url, headers, body, signal, streams: true });
  const given = response.body instanceof Uint8Array ? [response.body] : response.body;
  return { status: response.status, body: await collected(given, most) };
}

/** Whoever answers more is not read to the end. */
async function collected(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  most: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new WebhookCallError('http: request body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function decodeReview(bytes: Uint8Array, { review: asked, cluster }: WebhookCall): Promise<JsonObject> {
  const failed = (why: string) => new WebhookCallError(`couldn't get version/kind; json parse error: ${why}`);
  let value: unknown;
  try {
    value = await decodeJsonInTurns(bytes, () => othersFirst(cluster));
  } catch {
    value = '';
  }
  if (!isRecord(value)) {
    const type = Array.isArray(value) ? 'array' : typeof value;
    const into =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw failed(`json: cannot unmarshal ${type} into Go value of type ${into}`);
  }
  const apiVersion = value['apiVersion'] || asked['apiVersion'];
  const kind = value['kind'] || asked['kind'];
  if (kind !== asked['kind'] || !knownVersions.has(String(apiVersion))) {
    throw new WebhookCallError(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  // What it does not say of itself it is taken for, and told from what it says by whoever asked.
  return {
    ...(value as JsonObject),
    apiVersion: String(value['apiVersion'] ?? ''),
    kind: String(value['kind'] ?? ''),
  };
}

const knownVersions = new Set([
  'admission.k8s.io/v1',
  'admission.k8s.io/v1beta1',
  'apiextensions.k8s.io/v1',
  'apiextensions.k8s.io/v1beta1',
]);
