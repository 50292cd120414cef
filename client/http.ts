import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { ApiRequest, ApiResponse, Transport } from '../kube/http.ts';
import { TransportError } from './errors.ts';
import { exchange, StaleSocketError } from './send.ts';

/** How to prove who we are, and how to know the server. PEM where TLS is concerned. */
export interface Credentials {
  ca?: Buffer | string | undefined;
  cert?: Buffer | string | undefined;
  key?: Buffer | string | undefined;
  passphrase?: string | undefined;
  tlsServerName?: string | undefined;
  /** Accepts any server. Only for tests and by a user's explicit wish. */
  insecure?: boolean | undefined;
  token?: string | undefined;
  /** In place of `token`: a whole Authorization header. */
  authorization?: string | undefined;
}

export interface HttpConfig extends Credentials {
  /** `https://host:port`, also with a path, which goes before each request's. `http:` sends no secrets. */
  server: string;
  /** Asked before each request, for credentials that expire; overrides what stands here. */
  refresh?: () => Promise<Credentials>;
  /** Sockets for ordinary requests; each watch has one of its own beside them. Default 32. */
  maxSockets?: number;
  /** How long a socket waits for its next request, in milliseconds. Default 25 000. */
  freeMs?: number;
  /** Until the headers have come, and for ordinary requests also the body. Default 60 000. */
  timeoutMs?: number;
  /** Largest body of an ordinary answer, in bytes. Default 1 GiB; that of a failure is 16 MiB at most. */
  maxResponseBytes?: number;
  /** Has an agent connect only where that is allowed. */
  guard?: <A extends http.Agent>(agent: A) => A;
}

export type HttpTransport = Transport & { close(): void };

interface Agents {
  credentials: Credentials;
  requests: http.Agent;
  watches: http.Agent;
}

/** TCP probes start after this silence; with Node's ten probes a second apart a dead peer is known in 40 s. */
const keepAliveMsecs = 30_000;

/** A free socket that was not the only one waits so long: what many requests at once had opened costs more than it is worth. */
const surplusMs = 2_000;

/**
 * HTTP/1.1 to one API server. Redirects are answers, never followed: a server must not send our credentials
 * elsewhere. Fails with TransportError, or with the reason of the request's signal.
 */
export function httpTransport(config: HttpConfig): HttpTransport {
  const base = new URL(config.server);
  const to = target(base);
  const secure = base.protocol === 'https:';
  if (!secure && base.protocol !== 'http:')
    throw new TransportError('EPROTOCOL', 'server must be an https URL');
  let agents: Agents | undefined;
  let closed = false;
  const prepare = async (): Promise<Agents> => {
    if (closed) throw new TransportError('ECLOSED', 'the transport is closed');
    const credentials = config.refresh ? await config.refresh() : config;
    if (!agents || (config.refresh && !isDeepStrictEqual(agents.credentials, credentials))) {
      // Requests under way keep their sockets; idle ones with the old identity go.
      agents?.requests.destroy();
      agents = { credentials, ...makeAgents(secure, credentials, config) };
    }
    return agents;
  };
  const transport = async (request: ApiRequest): Promise<ApiResponse> => {
    request.signal?.throwIfAborted();
    const { credentials, requests, watches } = await prepare();
    const streams = request.streams || isStream(request.url);
    const options: http.RequestOptions = {
      ...to.options,
      path: to.prefix + request.url,
      method: request.method,
      agent: streams ? watches : requests,
      headers: { ...framed(request), ...(secure && authorization(credentials)) },
    };
    const maxBytes = Math.min(
      config.maxResponseBytes ?? 1 << 30,
      request.maxBytes ?? Number.POSITIVE_INFINITY,
    );
    const limits = { timeoutMs: config.timeoutMs ?? 60_000, maxBytes };
    const send = () => exchange(secure, options, request, limits, streams);
    try {
      return await send();
    } catch (error) {
      // A read can be asked twice.
      if (request.method !== 'GET' || !(error instanceof StaleSocketError)) throw error;
      return await send();
    }
  };
  const close = () => {
    closed = true;
    agents?.requests.destroy();
    agents?.watches.destroy();
  };
  return Object.assign(transport, { close });
}

function makeAgents(secure: boolean, of: Credentials, config: HttpConfig): Omit<Agents, 'credentials'> {
  const { maxSockets = 32, freeMs = 25_000, guard = (agent) => agent } = config;
  // Of its free sockets the last used goes first: what is not needed in all that time ends.
  const shared = { keepAlive: true, keepAliveMsecs, maxSockets, maxFreeSockets: 8, timeout: freeMs };
  // A watch is the only request of its socket; the agent only gives it TCP keep-alive and closes it.
  const single = { ...shared, timeout: undefined, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 1 };
  if (!secure) {
    return { requests: guard(thrifty(new http.Agent(shared))), watches: guard(new http.Agent(single)) };
  }
  const trusted: https.AgentOptions = {
    // Read once: each watch is a connection of its own, and a context of its own would cost more than what it carries.
    secureContext: contextOf(of),
    ...(of.tlsServerName && { servername: of.tlsServerName }),
    rejectUnauthorized: !of.insecure,
  };
  return {
    requests: guard(thrifty(new https.Agent({ ...trusted, ...shared }))),
    watches: guard(new https.Agent({ ...trusted, ...single })),
  };
}

/**
 * The one that was free before is asked last, and stays for who asks seldom; those beside it are used at once, or go. What goes is
 * given out no more: Node looks at the first of the free ones alone.
 */
function thrifty<A extends http.Agent>(agent: A): A {
  // As Node documents it; its types know of no answer.
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Socket) => boolean;
  function leave(this: Socket): void {
    for (const free of Object.values(agent.freeSockets)) {
      const at = free?.indexOf(this) ?? -1;
      if (at < 0) continue;
      free?.splice(at, 1);
      this.destroy();
    }
  }
  const keepFor = (socket: Socket) => {
    const isKept = keep(socket);
    if (isKept && !socket.listeners('timeout').includes(leave)) socket.prependListener('timeout', leave);
    const isSurplus = Object.values(agent.freeSockets).some((free) => free !== undefined && free.length > 0);
    if (isKept && isSurplus) socket.setTimeout(Math.min(surplusMs, socket.timeout ?? surplusMs));
    return isKept;
  };
  agent.keepSocketAlive = (socket) => keepFor(socket as Socket);
  return agent;
}

function contextOf(of: Credentials): tls.SecureContext {
  return tls.createSecureContext({
    // As Go has it: whatever certificate is trusted need not be an authority's.
    ...(of.ca && { ca: of.ca, allowPartialTrustChain: true }),
    ...(of.cert && { cert: of.cert }),
    ...(of.key && { key: of.key }),
    ...(of.passphrase && { passphrase: of.passphrase }),
    minVersion: 'TLSv1.2',
  });
}

function target({ protocol, hostname: host, pathname, port }: URL): {
  options: http.RequestOptions;
  prefix: string;
} {
  const hostname = host.replace(/^\[|\]$/g, '');
  return { options: { protocol, hostname, ...(port && { port }) }, prefix: pathname.replace(/\/$/, '') };
}

/**
 * The length is always told, and only by us: Node sends the body of a DELETE without one, and its bytes would be
 * read as the beginning of the socket's next request.
 */
function framed({ headers, body }: ApiRequest): Record<string, string> {
  const { 'transfer-encoding': _te, 'content-length': _length, connection: _hop, ...rest } = headers;
  if (rest['upgrade'] !== undefined) return { ...rest, connection: 'Upgrade', 'content-length': '0' };
  return body === undefined ? rest : { ...rest, 'content-length': String(body.length) };
}

function authorization(credentials: Credentials): Record<string, string> {
  if (credentials.authorization) return { authorization: credentials.authorization };
  return credentials.token ? { authorization: `Bearer ${credentials.token}` } : {};
}

/** Answers that go on for as long as the caller reads: watches, logs and backups of the store. */
function isStream(url: string): boolean {
  const [path = '', query] = url.split('?', 2);
  if (path.endsWith('/log') || path === '/backup') return true;
  if (query === undefined) return false;
  const watch = new URLSearchParams(query).get('watch');
  return watch !== null && watch !== '0' && watch !== 'false';
}
