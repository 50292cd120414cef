import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Limits } from '../core.ts';
import type { Ladder } from '../ladder.ts';
import type { Listening, ListenOptions, ServerLogger } from '../options.ts';
import { Connections } from './connections.ts';
import { Incoming } from './incoming.ts';
import { leaveToOthers, letGo, type Patience, stopListening } from './leave.ts';
import { Outbox } from './outbox.ts';
import { type RequestLog, requestLog } from './request-log.ts';
import { send } from './send.ts';
import { bodyReader, type Judge, peerOf, proxyJudge, refuseConnection, socketLimits } from './sockets.ts';
import { serveUpgrades } from './upgrade.ts';

export interface Listener extends Listening {
  /** Every connection goes with its next answer. */
  drain(): void;
  /** Takes no more connections. */
  stopListening(): Promise<void>;
  /** Resolves when no connection is left: requests at work finish, whoever sleeps is cut. */
  close(): Promise<void>;
}

/** What all requests of a listener share. */
interface Carrying {
  limits: Limits;
  outbox: Outbox;
  connections: Connections;
  requests: number;
  log: RequestLog | undefined;
  judge: () => Judge | undefined;
  /** Answers wait for it. */
  held?: Promise<void> | undefined;
}

/** Carries the ladder over TLS: whatever comes in, the ladder answers. */
export async function listenHttps(
  ladder: Ladder,
  where: ListenOptions,
  limits: Limits,
  logger: ServerLogger | undefined,
): Promise<Listener> {
  const sockets = socketLimits(limits);
  let shown = where.tls;
  let judging = proxyJudge(shown);
  const judge = () => judging;
  const app = Fastify({
    // The ladder says what there is to say while the server goes.
    return503OnClosing: false,
    // The router must not decode, measure or refuse what is in a path: the ladder does.
    rewriteUrl: () => '/',
    clientErrorHandler: refuseConnection,
    requestTimeout: sockets.requestTimeout,
    keepAliveTimeout: sockets.keepAliveTimeout,
    https: { ...contextOf(where.tls), ...sockets, requestCert: true, rejectUnauthorized: false },
  } as { https: https.ServerOptions }) as unknown as FastifyInstance;
  const server = app.server as unknown as Server;
  const connections = new Connections(server);
  const log = requestLog(logger);
  const carrying: Carrying = { limits, outbox: new Outbox(), connections, requests: 0, log, judge };
  // Before anything reads a body or has an opinion on a header: nobody's bytes are read before it is known who sends them.
  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply) =>
    exchange(ladder, request, reply, carrying),
  );
  app.server.maxConnections = limits.connections;
  // Node drops what comes after the thousandth without a word; the size of all of them is limited anyway.
  app.server.maxHeadersCount = 10_000;
  const stallMillis = limits.stallSeconds * 1000;
  const endTunnels = serveUpgrades(app.server, ladder, { stallMillis, log, connections, judge });
  await listen(app, where);
  const gone = once(server, 'close');
  let deaf: Promise<void> | undefined;
  let deafFrom = 0;
  const becomeDeaf = () => {
    if (deaf) return deaf;
    deafFrom = performance.now();
    connections.shedAll();
    if ('socket' in where) deaf = leaveToOthers(server, connections);
    else {
      deaf = stopListening(server, connections).finally(() => {
        carrying.held = undefined;
      });
      carrying.held = deaf;
    }
    return deaf;
  };
  const { family, address, port } = server.address() as AddressInfo;
  logger?.info('serving', { address, port });
  return {
    url: `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    socket: server,
    load: () => ({ requests: carrying.requests, connections: connections.size }),
    shed: (share) => connections.shed(share),
    show(tls) {
      (app.server as unknown as https.Server).setSecureContext(contextOf(tls));
      // Open connections too are judged anew.
      if (tls.ca !== shown.ca || tls.proxyCa !== shown.proxyCa) judging = proxyJudge(tls);
      shown = tls;
    },
    drain: () => connections.shedAll(),
    stopListening: becomeDeaf,
    close: async () => {
      await becomeDeaf();
      // They last for as long as somebody works in them: nobody waits for that.
      endTunnels();
      await letGo(connections, gone, patience(limits), deafFrom);
      await app.close();
    },
  };
}

/** Proxies choose their certificate by the authorities that are named to them. */
function contextOf({ key, cert, ca, proxyCa }: ListenOptions['tls']) {
  return { key, cert, ca: proxyCa === undefined ? ca : [ca, proxyCa] };
}

function patience({ lingerSeconds, cutSeconds, requestSeconds }: Limits): Patience {
  return { lingerMs: lingerSeconds * 1000, cutMs: cutSeconds * 1000, longestMs: requestSeconds * 1000 };
}

/**
 * At an address, or at a socket that another process listens at, too: whoever has time takes the next connection. A
 * socket from another process takes connections as soon as it is here, and nobody would answer them: so nothing is
 * waited for in between.
 */
async function listen(app: FastifyInstance, where: ListenOptions): Promise<void> {
  await app.ready();
  const at = 'socket' in where ? await where.socket() : { host: where.host, port: where.port };
  await new Promise<void>((resolve, reject) => {
    app.server.once('error', reject);
    app.server.listen(at, resolve);
  });
}

async function exchange(
  ladder: Ladder,
  { raw, originalUrl }: FastifyRequest,
  reply: FastifyReply,
  carrying: Carrying,
): Promise<void> {
  reply.hijack();
  carrying.requests++;
  const { limits, outbox, connections } = carrying;
  const begun = connections.begun(raw);
  const out = reply.raw;
  const request = new Incoming(raw, out, originalUrl);
  out.on('close', () => {
    connections.ended(begun);
    request.closed();
  });
  if (!out.socket) tellGone(raw.socket, out);
  const peer = peerOf(raw.socket as TLSSocket, carrying.judge());
  const log = carrying.log?.(request);
  const response = await ladder.serve(request, peer, bodyReader(raw, out, limits.bodyBytes), log?.known);
  if (carrying.held !== undefined) await carrying.held;
  connections.answered(begun);
  if (connections.leaves(raw.socket)) {
    response.headers['connection'] = 'close';
    out.once('finish', () => connections.told(raw.socket));
  }
  await send(out, request, response, { stallMillis: limits.stallSeconds * 1000, outbox });
  log?.answered(response.status);
}

/**
 * Node tells the answer at the head of a connection that this is closed, and none of those behind it: what they are to would be at work
 * for ever, a watch until its time is up.
 */
function tellGone(socket: Socket, out: ServerResponse): void {
  const gone = () => {
    out.destroy();
    out.emit('close');
  };
  // As many as somebody sends at once.
  socket.setMaxListeners(0);
  socket.once('close', gone);
  out.once('socket', () => socket.off('close', gone));
}
