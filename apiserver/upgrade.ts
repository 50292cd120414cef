import type { IncomingMessage, Server } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { ApiRequest, ApiResponse } from '../kube/http.ts';
import type { Ladder } from './ladder.ts';
import { peerOf } from './sockets.ts';

const probeMillis = 30_000;

/**
 * Requests to change the protocol climb the same ladder. One that is granted becomes a tunnel; any other gets its
 * answer as plain HTTP, and the connection goes. Returns what ends all tunnels.
 */
export function serveUpgrades(server: Server, ladder: Ladder): () => void {
  const tunnels = new Set<Duplex>();
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    tunnels.add(socket);
    socket.on('close', () => tunnels.delete(socket));
    // Until it is a tunnel nobody else listens.
    socket.on('error', () => socket.destroy());
    void answer(ladder, incoming, socket, head).catch(() => socket.destroy());
  });
  return () => {
    for (const tunnel of tunnels) tunnel.destroy();
  };
}

async function answer(
  ladder: Ladder,
  incoming: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const request: ApiRequest = {
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    headers: incoming.headers as Record<string, string>,
    signal: gone.signal,
  };
  const response = await ladder.serve(request, peerOf(socket as TLSSocket));
  const { tunnel } = response;
  if (socket.destroyed) return void tunnel?.destroy();
  if (tunnel === undefined) return refuse(socket, response);
  socket.write(headOf(response));
  join(socket, tunnel, head);
}

/** Both ways, each at the pace of who reads; when one end goes, so does the other. */
function join(socket: Socket, tunnel: Duplex, head: Buffer): void {
  for (const end of [socket, tunnel] as (Duplex & Partial<Socket>)[]) {
    end.setTimeout?.(0);
    end.setNoDelay?.(true);
    end.setKeepAlive?.(true, probeMillis);
  }
  tunnel.on('error', () => tunnel.destroy());
  tunnel.on('close', () => socket.destroySoon());
  socket.on('close', () => tunnel.destroy());
  if (head.length > 0) tunnel.write(head);
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
