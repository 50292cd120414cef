import http from 'node:http';
import https from 'node:https';
import type { ApiRequest, ApiResponse } from '../kube/http.ts';
import { Pieces } from '../kube/pieces.ts';
import { TransportError } from './errors.ts';
import { boundedBody, cut, receive, tooLarge } from './response.ts';
import { tunnelOf } from './tunnel.ts';

const maxFailureBytes = 16 * 1024 * 1024;

/** A kept-alive socket was closed by the server just as it was used again. */
export class StaleSocketError extends TransportError {}

interface Limits {
  timeoutMs: number;
  maxBytes: number;
}

/** One request, and its answer: of what `streams` its beginning. */
export function exchange(
  secure: boolean,
  options: http.RequestOptions,
  request: ApiRequest,
  limits: Limits,
  streams: boolean,
): Promise<ApiResponse> {
  const { signal, body } = request;
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? https : http).request(options);
    const abort = () => outgoing.destroy(signal?.reason instanceof Error ? signal.reason : undefined);
    signal?.addEventListener('abort', abort, { once: true });
    // Made when it is needed: it looks for where it was made, and most requests are answered.
    const late = () => new TransportError('ETIMEDOUT', `no whole answer within ${limits.timeoutMs} ms`);
    const timer = setTimeout(() => outgoing.destroy(late()), limits.timeoutMs);
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    let isWhole = false;
    const fail = (error: unknown) => {
      release();
      if (isWhole) return;
      if (signal?.aborted) reject(signal.reason);
      else reject(translate(error, outgoing.reusedSocket));
    };
    outgoing.on('error', fail);
    outgoing.on('upgrade', (incoming, socket, head) => {
      if (request.headers['upgrade'] === undefined) {
        // Nobody would read it, or close it.
        socket.on('error', () => undefined).destroy();
        fail(new TransportError('EPROTOCOL', 'it changed the protocol, for which nobody asked'));
        return;
      }
      release();
      resolve({ ...receive(incoming), body: new Uint8Array(), tunnel: tunnelOf(socket, head) });
    });
    outgoing.on('response', (incoming) => {
      const answer = receive(incoming);
      if (streams && answer.status < 300) {
        clearTimeout(timer);
        incoming.once('close', release);
        resolve({ ...answer, body: boundedBody(incoming, Number.POSITIVE_INFINITY, translate) });
        return;
      }
      const max = answer.status < 300 ? limits.maxBytes : Math.min(limits.maxBytes, maxFailureBytes);
      collectBody(incoming, max).then((bytes) => {
        release();
        isWhole = true;
        afterwards(outgoing, () => resolve({ ...answer, body: bytes }));
      }, fail);
    });
    outgoing.end(body);
  });
}

/**
 * Once the socket is free for the next request: whoever asks right after an answer would open one more. That is a moment after the
 * answer's last byte; a socket that is not free then (it is to close, or the server answered before it had read all) is not waited for.
 */
function afterwards(outgoing: http.ClientRequest, run: () => void): void {
  if (outgoing.closed || !outgoing.shouldKeepAlive) {
    run();
    return;
  }
  const go = () => {
    clearImmediate(limit);
    outgoing.off('close', go);
    // The socket is given back right after `close` is told.
    queueMicrotask(run);
  };
  const limit = setImmediate(go);
  outgoing.once('close', go);
}

/** As boundedBody, by events: iterators cost as much as all else of ours that a short answer goes through. */
function collectBody(incoming: http.IncomingMessage, max: number): Promise<Uint8Array> {
  const pieces = new Pieces();
  return new Promise((resolve, reject) => {
    incoming.on('data', (piece: Buffer) => {
      pieces.add(piece);
      if (pieces.length > max) incoming.destroy(tooLarge(max));
    });
    incoming.once('error', (error) => reject(translate(error)));
    incoming.once('end', () => (incoming.complete ? resolve(pieces.whole()) : reject(cut())));
    incoming.once('close', () => incoming.readableEnded || reject(cut()));
  });
}

function translate(error: unknown, reused = false): TransportError {
  if (error instanceof TransportError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN';
  const message = error instanceof Error ? error.message : 'the connection failed';
  if (reused && (code === 'ECONNRESET' || code === 'EPIPE'))
    return new StaleSocketError(code, message, error);
  return new TransportError(code, message, error);
}
