import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { requestUri } from '../../apiserver/audit/source.ts';
import { mastersGroup } from '../../apiserver/authz/masters.ts';
import type { Peer } from '../../apiserver/plugins.ts';
import type { RequestInfo } from '../../apiserver/request.ts';
import type { RequestTrace, TraceAttributes, Tracer } from '../../apiserver/tracer.ts';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import { contextIn, headersOf, isSampled, type TraceContext } from './context.ts';
import { encodeSpan, newSpanId, type Span } from './span.ts';

/** Whose word counts of whether a request is traced. As kube-apiserver has it. */
const trusted = new Set([mastersGroup, 'system:monitoring']);
/** Of one request; a collection that is deleted has as many writes as objects. */
const mostSteps = 128;
/** As kube-apiserver cuts it. */
const longestAuditId = 64;

/** A span that others may be within. */
interface Scope {
  context: TraceContext;
  request: TracedRequest | undefined;
}

/** Spans of requests and of what is done for them, given to `write` as they end. */
export class SpanTracer implements Tracer {
  readonly #under = new AsyncLocalStorage<Scope>();
  readonly #perMillion: number;
  readonly #write: (span: Uint8Array) => void;

  constructor(perMillion: number, write: (span: Uint8Array) => void) {
    this.#perMillion = perMillion;
    this.#write = write;
  }

  begin(...[request, info, user, peer, began]: Parameters<Tracer['begin']>): RequestTrace | undefined {
    const asked = peer ? contextIn(request.headers) : this.#current()?.context;
    const follows = asked && (peer === undefined || user.groups.some((group) => trusted.has(group)));
    if (follows && !asked.sampled) return passingOn(this.#under, asked);
    if (!follows && this.#perMillion === 0) return undefined;
    const traceId = follows ? asked.traceId : randomBytes(16).toString('hex');
    if (!follows && !isSampled(traceId, this.#perMillion)) return undefined;
    const own = { traceId, spanId: newSpanId(), sampled: true, state: follows ? asked.state : '' };
    const span: Omit<Span, 'to'> = {
      ...own,
      parentId: follows ? asked.spanId : undefined,
      remote: follows !== undefined && peer !== undefined,
      name: nameOf(request, info),
      kind: 'server',
      // Steps are told by the clock that does not jump.
      from: began,
      attributes: attributesOf(request, info, peer),
      ...(asked && !follows && { link: asked }),
    };
    return new TracedRequest(span, this.#under, this.#write);
  }

  call<T>(name: string, attributes: TraceAttributes, work: () => Promise<T>): Promise<T> {
    return this.step(name, 'client', () => attributes, work);
  }

  /** Within the request that is under way, if there is one; `attributes` are asked for where it is traced. */
  step<T>(
    name: string,
    kind: Span['kind'],
    attributes: () => TraceAttributes,
    work: () => Promise<T>,
  ): Promise<T> {
    const scope = this.#current();
    const request = scope?.request;
    if (!scope || !request?.takes()) return work();
    const context = { ...scope.context, spanId: newSpanId() };
    const from = performance.now();
    const end = (failed: boolean) =>
      request.tell({
        ...context,
        parentId: scope.context.spanId,
        remote: false,
        name,
        kind,
        from,
        to: performance.now(),
        attributes: attributes(),
        failed,
      });
    return this.#under.run({ context, request }, work).then(
      (answer) => {
        end(false);
        return answer;
      },
      (error) => {
        end(true);
        throw error;
      },
    );
  }

  headers(): Readonly<Record<string, string>> | undefined {
    const scope = this.#current();
    return scope && headersOf(scope.context);
  }

  /** What outlives its request belongs to none. */
  #current(): Scope | undefined {
    const scope = this.#under.getStore();
    return scope?.request?.answeredAlready ? undefined : scope;
  }
}

class TracedRequest implements RequestTrace {
  readonly #span: Omit<Span, 'to'>;
  readonly #under: AsyncLocalStorage<Scope>;
  readonly #write: (span: Uint8Array) => void;
  /** Of the clock of the machine, before that of the process. */
  readonly #ahead = Date.now() - performance.now();
  #steps = 0;
  #passed: number;
  #outcome: TraceAttributes = {};
  #failed = false;
  answeredAlready = false;

  constructor(span: Omit<Span, 'to'>, under: AsyncLocalStorage<Scope>, write: (span: Uint8Array) => void) {
    this.#span = span;
    this.#under = under;
    this.#write = write;
    this.#passed = span.from;
    this.passed('authentication');
  }

  run<A extends unknown[], T>(work: (...args: A) => T, ...args: A): T {
    const { traceId, spanId, state } = this.#span;
    return this.#under.run(
      { context: { traceId, spanId, state, sampled: true }, request: this },
      work,
      ...args,
    );
  }

  passed(rung: string): void {
    const { traceId, spanId: parentId, state } = this.#span;
    const from = this.#passed;
    this.#passed = performance.now();
    const step = { traceId, spanId: newSpanId(), state, parentId, remote: false };
    this.tell({ ...step, name: rung, kind: 'internal', from, to: this.#passed, attributes: {} });
  }

  takes(): boolean {
    return this.#steps++ < mostSteps;
  }

  tell(span: Span): void {
    this.#write(encodeSpan({ ...span, from: span.from + this.#ahead, to: span.to + this.#ahead }));
  }

  answered({ status, body }: ApiResponse): void {
    this.answeredAlready = true;
    this.#failed = status >= 500;
    this.#outcome = {
      ...(body instanceof Uint8Array && body.length > 0 && { 'http.response.body.size': body.length }),
      'http.response.status_code': status,
    };
  }

  over(): void {
    const attributes = { ...this.#span.attributes, ...this.#outcome };
    this.tell({ ...this.#span, to: performance.now(), attributes, failed: this.#failed });
  }
}

/** Somebody decided that the trace is not kept: who is asked for the request is told that, too. */
function passingOn(under: AsyncLocalStorage<Scope>, context: TraceContext): RequestTrace {
  const nothing = () => undefined;
  return {
    run: (work, ...args) => under.run({ context, request: undefined }, work, ...args),
    passed: nothing,
    answered: nothing,
    over: nothing,
  };
}

/** As kube-apiserver calls it: `GET /api/v1/namespaces/{:namespace}/pods/{:name}`. */
export function nameOf({ method }: Pick<ApiRequest, 'method'>, info: RequestInfo): string {
  if (!info.isResource) return method;
  const { group, version, namespace, resource, name, subresource } = info;
  const parts = [
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    ...(namespace !== '' ? ['namespaces/{:namespace}'] : []),
    resource,
    ...(name !== '' ? ['{:name}'] : []),
    ...(subresource !== '' ? [subresource] : []),
  ];
  return `${method} ${parts.join('/')}`;
}

/** Nothing of a header but what names the request, nor of a query what may be a secret: an exec's command may be. */
function attributesOf(request: ApiRequest, info: RequestInfo, peer: Peer | undefined): TraceAttributes {
  const { url, method, auditId = '' } = request;
  const path = url.split('?', 1)[0] ?? '';
  const address = peer?.address?.replace(/^::ffff:(?=\d+\.)/, '');
  const size = Number(request.headers['content-length'] ?? 0);
  return {
    'http.request.method': method,
    'url.scheme': 'https',
    'url.path': path,
    'http.target': info.isResource && info.subresource === '' ? requestUri(url) : path,
    ...(address && { 'network.peer.address': address, 'client.address': address }),
    'audit-id': auditId.slice(0, longestAuditId),
    ...(info.cluster !== '' && { 'atoll.logical_cluster': info.cluster }),
    ...(size > 0 && { 'http.request.body.size': size }),
  };
}
