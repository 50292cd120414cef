import type { IncomingMessage, Server } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { ApiRequest, ApiResponse } from '../../kube/http.ts';
import { text } from '../encode/text.ts';
import type { Ladder } from '../ladder.ts';
import type { Connections } from './connections.ts';
import type { RequestLog } from './request-log.ts';
import { type Judge, peerOf } from './sockets.ts';
import { overWebSocket, sendMessages } from './websocket.ts';

const probeMillis = 30_000;

export interface Upgrading {
  stallMillis: number;
  log: RequestLog | undefined;
  connections: Connections;
  judge: () => Judge | undefined;
}

/**
 * Requests to change the protocol climb the same ladder. One that is granted becomes a tunnel; a watch goes over the
 * WebSocket that was asked for; any other gets its answer as plain HTTP, and the connection goes. One with a body, which
 * Node does not read, is 400. A reader that takes
 * nothing for `stallMillis` is cut. Returns what ends all tunnels, also those that come later; other requests are known
 * to the connections.
 */
export function serveUpgrades(server: Server, ladder: Ladder, options: Upgrading): () => void {
  const tunnels = new Set<Duplex>();
  let over = false;
  const keep = (socket: Socket) => {
    tunnels.add(socket);
    socket.on('close', () => tunnels.delete(socket));
    if (over) socket.destroy();
  };
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    // Until it is a tunnel nobody else listens.
    socket.on('error', () => socket.destroy());
    if (head.length > 0) socket.unshift(head);
    answer(ladder, incoming, socket, { ...options, keep }).catch(() => socket.destroy());
  });
  return () => {
    over = true;
    for (const tunnel of tunnels) tunnel.destroy();
  };
}

async function answer(
  ladder: Ladder,
  incoming: IncomingMessage,
  socket: Socket,
  { stallMillis, log, connections, judge, keep }: Upgrading & { keep(tunnel: Socket): void },
): Promise<void> {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const request: ApiRequest = {
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    headers: incoming.headers as Record<string, string>,
    distinct: incoming.headersDistinct,
    signal: gone.signal,
  };
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length !== '0' || encoding !== undefined) return refuse(socket, text(400, 'an upgrade has no body'));
  const begun = connections.begun(incoming);
  socket.on('close', () => connections.ended(begun));
  const logged = log?.(request);
  const response = await ladder.serve(
    request,
    peerOf(socket as TLSSocket, judge()),
    undefined,
    logged?.known,
  );
  logged?.answered(response.status);
  connections.answered(begun);
  const { tunnel } = response;
  if (socket.destroyed) return void tunnel?.destroy();
  if (tunnel === undefined) {
    const watch = overWebSocket(request, response);
    if (!watch || watch.body instanceof Uint8Array) return refuse(socket, response);
    lasting(socket);
    socket.write(headOf(watch));
    return sendMessages(socket, watch.body, stallMillis);
  }
  socket.write(headOf(response));
  // Its end may have come before anybody listened.
  if (tunnel.destroyed) return void socket.destroySoon();
  join(socket, tunnel);
  keep(socket);
}

function lasting(end: Duplex): void {
  const socket = end as Duplex & Pick<Partial<Socket>, 'setTimeout' | 'setNoDelay' | 'setKeepAlive'>;
  socket.setTimeout?.(0);
  socket.setNoDelay?.(true);
  socket.setKeepAlive?.(true, probeMillis);
}

/** Both ways, each at the pace of who reads; when one end goes, so does the other. */
function join(socket: Socket, tunnel: Duplex): void {
  lasting(socket);
  lasting(tunnel);
  tunnel.on('error', () => tunnel.destroy());
  tunnel.on('close', () => socket.destroySoon());
  socket.on('close', () => tunnel.destroy());
  socket.pipe(tunnel);
  tunnel.pipe(socket);
}

/** Ends with the connection, and so needs no frames. */
async function refuse(socket: Socket, response: ApiResponse): Promise<void> {
  const { body, headers } = response;
  headers['connection'] = 'close';
  if (body instanceof Uint8Array) headers['content-length'] = String(body.length);
  socket.write(headOf(response));
  await pipeline(body instanceof Uint8Array ? [body] : body, socket);
}

function headOf({ status, headers }: ApiResponse): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => `${name}: ${one}`),
  );
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', ''].join('\r\n');
}
