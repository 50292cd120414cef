import type https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ApiRequest } from '../kube/http.ts';
import type { Ladder } from './ladder.ts';
import type { Limits, ListenOptions, ServerLogger } from './options.ts';
import { Outbox } from './outbox.ts';
import { send } from './send.ts';
import { bodyReader, peerOf, refuseConnection, socketLimits } from './sockets.ts';
import { serveUpgrades } from './upgrade.ts';

export interface Listener {
  url: string;
  close(): Promise<void>;
}

/** Carries the ladder over TLS: whatever comes in, the ladder answers. */
export async function listenHttps(
  ladder: Ladder,
  where: ListenOptions,
  limits: Limits,
  logger: ServerLogger | undefined,
): Promise<Listener> {
  const { tls, host, port } = where;
  const sockets = socketLimits(limits);
  const carrying = { limits, outbox: new Outbox() };
  const app = Fastify({
    forceCloseConnections: 'idle',
    // The ladder says what there is to say while the server goes.
    return503OnClosing: false,
    // The router must not decode, measure or refuse what is in a path: the ladder does.
    rewriteUrl: () => '/',
    clientErrorHandler: refuseConnection,
    requestTimeout: sockets.requestTimeout,
    keepAliveTimeout: sockets.keepAliveTimeout,
    https: { ...tls, ...sockets, requestCert: true, rejectUnauthorized: false },
  } as { https: https.ServerOptions }) as unknown as FastifyInstance;
  // Before anything reads a body or has an opinion on a header: nobody's bytes are read before it is known who sends them.
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply) =>
    exchange(ladder, request, reply, carrying),
  );
  app.server.maxConnections = limits.connections;
  // Node drops what comes after the thousandth without a word; the size of all of them is limited anyway.
  app.server.maxHeadersCount = 10_000;
  const endTunnels = serveUpgrades(app.server, ladder, limits.stallSeconds * 1000);
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  logger?.info('serving', { host, port: address.port });
  return {
    url: `https://${name}:${address.port}`,
    close: () => drain(app, limits.requestSeconds * 1000, endTunnels),
  };
}

/** Requests that are still running after `millis` are cut. */
async function drain(app: FastifyInstance, millis: number, endTunnels: () => void): Promise<void> {
  const server = app.server as unknown as https.Server;
  // They last for as long as somebody works in them: nobody waits for that.
  endTunnels();
  const timer = setTimeout(() => server.closeAllConnections(), millis);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  ladder: Ladder,
  { raw, originalUrl }: FastifyRequest,
  reply: FastifyReply,
  { limits, outbox }: { limits: Limits; outbox: Outbox },
): Promise<void> {
  reply.hijack();
  const out = reply.raw;
  let gone: AbortController | undefined;
  const request: ApiRequest = {
    method: raw.method ?? 'GET',
    url: originalUrl,
    headers: raw.headers as Record<string, string>,
    // Made only for those who look: most requests end before anybody could leave.
    get signal() {
      gone ??= new AbortController();
      if (out.closed) gone.abort();
      return gone.signal;
    },
  };
  out.on('close', () => {
    if (!out.writableFinished) gone?.abort();
  });
  const peer = peerOf(raw.socket as TLSSocket);
  const response = await ladder.serve(request, peer, bodyReader(raw, limits.bodyBytes));
  await send(out, request, response, { stallMillis: limits.stallSeconds * 1000, outbox });
}
