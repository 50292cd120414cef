import { type KeyObject, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type https from 'node:https';
import type { Socket } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { Pieces } from '../../kube/pieces.ts';
import { StatusError } from '../../kube/status.ts';
import type { Limits } from '../core.ts';
import type { Peer } from '../plugins.ts';

/**
 * What one client may cost before it is known who it is. Times as kube-apiserver has them; Node looks for requests
 * that are late at `connectionsCheckingInterval`.
 */
export function socketLimits(limits: Limits): https.ServerOptions {
  return {
    handshakeTimeout: 10_000,
    maxHeaderSize: 1024 * 1024,
    headersTimeout: 32_000,
    requestTimeout: limits.requestSeconds * 1000,
    keepAliveTimeout: 90_000,
    connectionsCheckingInterval: 2_000,
  };
}

const answers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** To what is no HTTP request: one line, then the connection goes. */
export function refuseConnection(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const status = answers[error.code ?? ''] ?? '400 Bad Request';
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n`;
  socket.end(head + status);
  // A peer that goes on sending is not listened to.
  socket.destroySoon();
}

const peers = new WeakMap<Socket, { peer: Peer; judge: Judge | undefined }>();

/** Whose a verified certificate is, where two authorities may have signed it; undefined: of neither itself. */
export type Judge = (certificate: PeerCertificate) => 'client' | 'proxy' | undefined;

/** Undefined where there is one authority alone. */
export function proxyJudge({ ca, proxyCa }: { ca: string; proxyCa?: string }): Judge | undefined {
  if (proxyCa === undefined) return undefined;
  const [clients, proxies] = [keysIn(ca), keysIn(proxyCa)];
  return ({ raw }) => {
    const certificate = new X509Certificate(raw);
    if (clients.some((key) => certificate.verify(key))) return 'client';
    return proxies.some((key) => certificate.verify(key)) ? 'proxy' : undefined;
  };
}

function keysIn(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block).publicKey);
}

/** Who is at the other end; asked of TLS once for each connection and judge. A certificate counts only when our authority signed it. */
export function peerOf(socket: TLSSocket, judge: Judge | undefined): Peer {
  const known = peers.get(socket);
  if (known && known.judge === judge) return known.peer;
  const address = socket.remoteAddress;
  const peer: Peer = {
    ...(address !== undefined && { address }),
    ...(socket.authorized && certified(socket.getPeerCertificate(), judge)),
  };
  peers.set(socket, { peer, judge });
  return peer;
}

function certified(certificate: PeerCertificate, judge: Judge | undefined): Omit<Peer, 'address'> {
  const { subject, valid_to } = certificate;
  if (!subject) return {};
  const whose = judge ? judge(certificate) : 'client';
  if (whose === 'proxy')
    return { proxy: [subject.CN].flat()[0] ?? '', proxyUntil: Date.parse(valid_to ?? '') };
  if (whose === undefined) return {};
  return { certificate: { subject, ...(valid_to !== undefined && { valid_to }) } };
}

/**
 * `undefined`: the request has no body. Otherwise reads it; throws StatusError 413 beyond `limit` bytes, 400 for what ends
 * too early, or was answered before it was here: Node says nothing more of that then.
 */
export function bodyReader(
  raw: IncomingMessage,
  out: ServerResponse,
  limit: number,
): (() => Promise<Uint8Array>) | undefined {
  const length = raw.headers['content-length'];
  if ((length === undefined || length === '0') && raw.headers['transfer-encoding'] === undefined) {
    return undefined;
  }
  return () =>
    Number(length ?? 0) > limit ? Promise.reject(entityTooLarge(limit)) : readAll(raw, out, limit);
}

function readAll(raw: IncomingMessage, out: ServerResponse, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let pieces: Pieces | undefined = new Pieces();
    const end = (error: StatusError) => {
      pieces = undefined;
      reject(error);
    };
    const early = () => end(new StatusError(400, 'BadRequest', 'unexpected EOF'));
    // Who left before it was known who they are is not told of any more.
    if (raw.destroyed || out.closed) return early();
    raw.on('data', (chunk: Buffer) => {
      pieces?.add(chunk);
      if (pieces && pieces.length > limit) end(entityTooLarge(limit));
    });
    raw.on('end', () => {
      out.off('close', early);
      if (pieces) resolve(pieces.whole());
    });
    raw.on('error', early);
    out.on('close', early);
  });
}

function entityTooLarge(limit: number): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
}
