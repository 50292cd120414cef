import type { IncomingMessage, ServerResponse } from 'node:http';
import type https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ApiRequest, ApiResponse } from '../kube/http.ts';
import { StatusError } from '../kube/status.ts';
import { respondError } from './encode/respond.ts';
import type { Ladder } from './ladder.ts';
import type { Limits, ListenOptions, Peer, ServerLogger } from './options.ts';

export interface Listener {
  url: string;
  close(): Promise<void>;
}

const gzipBytes = promisify(gzip);
/** Smaller answers are not worth compressing, as kube-apiserver sees it. */
const gzipFrom = 128 * 1024;
const headerBytes = 256 * 1024;
/** After this, requests that are still running are cut. */
const drainMillis = 10_000;

/** Carries the ladder over TLS: one route, raw bodies, every answer made by the ladder. */
export async function listenHttps(
  ladder: Ladder,
  where: ListenOptions,
  limits: Limits,
  logger: ServerLogger | undefined,
): Promise<Listener> {
  const { tls, host, port } = where;
  const app = Fastify({
    bodyLimit: limits.bodyBytes,
    forceCloseConnections: 'idle',
    https: { ...tls, requestCert: true, rejectUnauthorized: false, maxHeaderSize: headerBytes },
  } as { https: https.ServerOptions; bodyLimit: number }) as unknown as FastifyInstance;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    sendPlain(reply, respondError(bodyError(error, limits), undefined)),
  );
  const handle = (request: FastifyRequest, reply: FastifyReply) => exchange(ladder, request, reply, limits);
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  app.route({ method: methods, url: '*', exposeHeadRoute: false, handler: handle });
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  logger?.info('serving', { host, port: address.port });
  return { url: `https://${name}:${address.port}`, close: () => drain(app) };
}

async function drain(app: FastifyInstance): Promise<void> {
  const server = app.server as unknown as https.Server;
  const timer = setTimeout(() => server.closeAllConnections(), drainMillis);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  ladder: Ladder,
  { raw, body }: FastifyRequest,
  reply: FastifyReply,
  limits: Limits,
): Promise<void> {
  reply.hijack();
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  const request: ApiRequest = {
    method: raw.method ?? 'GET',
    url: raw.url ?? '/',
    headers: flatten(raw),
    ...(body instanceof Uint8Array && { body }),
    signal: gone.signal,
  };
  const response = await ladder.serve(request, peerOf(raw));
  await send(reply.raw, request, response, limits);
}

function flatten(raw: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

/** A certificate counts only when our authority signed it. */
function peerOf(raw: IncomingMessage): Peer {
  const socket = raw.socket as TLSSocket;
  const address = socket.remoteAddress;
  const certificate = socket.authorized ? socket.getPeerCertificate() : undefined;
  return {
    ...(address !== undefined && { address }),
    ...(certificate?.subject && { certificate }),
  };
}

async function send(
  out: ServerResponse,
  request: ApiRequest,
  response: ApiResponse,
  limits: Limits,
): Promise<void> {
  const { status, headers, body } = response;
  if (!(body instanceof Uint8Array)) return sendStream(out, response, body, limits);
  let bytes = body;
  const packed = body.length >= gzipFrom && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  if (packed) bytes = await gzipBytes(body, { level: constants.Z_BEST_SPEED });
  if (out.destroyed) return;
  out.writeHead(status, {
    ...headers,
    ...(packed && { 'content-encoding': 'gzip', vary: 'Accept-Encoding' }),
    ...(status !== 304 && { 'content-length': bytes.length }),
  });
  out.end(request.method === 'HEAD' || status === 304 ? undefined : bytes);
}

/** Headers go out at once: clients wait for them before they believe that a watch has begun. */
async function sendStream(
  out: ServerResponse,
  { status, headers }: ApiResponse,
  body: AsyncIterable<Uint8Array>,
  limits: Limits,
): Promise<void> {
  out.writeHead(status, headers);
  out.flushHeaders();
  try {
    for await (const bytes of body) {
      if (out.destroyed) return;
      if (!out.write(bytes) && !(await drained(out, limits.stallSeconds * 1000))) break;
    }
  } catch {
    // The source broke off: so does the answer, without its last chunk.
    out.destroy();
  }
  if (out.writableNeedDrain) out.destroy();
  else out.end();
}

/** False when the reader takes nothing for too long, or went. */
function drained(out: ServerResponse, millis: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (result: boolean) => {
      clearTimeout(timer);
      out.off('drain', onDrain);
      out.off('close', onClose);
      resolve(result);
    };
    const onDrain = () => end(true);
    const onClose = () => end(false);
    const timer = setTimeout(() => end(false), millis);
    out.once('drain', onDrain);
    out.once('close', onClose);
  });
}

function bodyError(error: { statusCode?: number; message: string }, limits: Limits): StatusError {
  if (error.statusCode === 413) {
    const message = `Request entity too large: limit is ${limits.bodyBytes}`;
    return new StatusError(413, 'RequestEntityTooLarge', message);
  }
  return new StatusError(
    error.statusCode ?? 500,
    error.statusCode ? 'BadRequest' : 'InternalError',
    error.message,
  );
}

function sendPlain(reply: FastifyReply, response: ApiResponse): FastifyReply {
  return reply
    .code(response.status)
    .headers(response.headers)
    .send(Buffer.from(response.body as Uint8Array));
}
