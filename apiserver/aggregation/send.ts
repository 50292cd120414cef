import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { ApiResponse } from '../../kube/http.ts';
import { answerHeaders } from '../wire/upgrade-headers.ts';
import { answeredHeaders } from './headers.ts';

/** One request to another API server: where it goes, and what is said. */
export interface Sending {
  options: https.RequestOptions;
  body: Uint8Array | undefined;
  /** Ends it, also while the answer is read. */
  signal: AbortSignal;
  /** All is over: the answer is read, or nobody reads it any more. */
  over(): void;
}

/** The answer, as it comes. Rejects with what node says, and whether a connection of before was used. Redirects are answers like any. */
export function send({ options, body, signal, over }: Sending): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const request = https.request({ ...options, signal });
    request.on('error', (error) => reject(Object.assign(error, { reused: request.reusedSocket })));
    request.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Until it is joined to the caller's nobody else listens, and a reset that nobody hears ends the process.
      socket.on('error', () => socket.destroy());
      socket.once('close', over);
      const wrong = wrongProtocol(options.headers as Record<string, string>, incoming);
      if (wrong !== undefined || signal.aborted || socket.destroyed) {
        socket.destroy();
        return reject(new Error(wrong ?? 'unexpected EOF'));
      }
      // The request is over to node: its signal ends nothing any more.
      const abort = () => void socket.destroy();
      signal.addEventListener('abort', abort, { once: true });
      socket.once('close', () => signal.removeEventListener('abort', abort));
      if (head.length > 0) socket.unshift(head);
      const headers = answerHeaders({ status: 101, headers: answerOf(incoming) } as ApiResponse);
      resolve({ status: 101, headers, body: new Uint8Array(), tunnel: socket });
    });
    request.on('response', (incoming) => {
      incoming.once('close', over);
      // Whoever reads it is told; that nobody does is no fault.
      incoming.on('error', over);
      const { statusCode: status = 502 } = incoming;
      const headers = answeredHeaders(incoming.headers);
      const isEmpty = options.method === 'HEAD' || status === 204 || status === 304;
      if (isEmpty) incoming.resume();
      resolve({ status, headers, body: isEmpty ? new Uint8Array() : incoming });
    });
    request.end(body);
  });
}

/** Why a 101 is none: nobody asked for it, or for another. In the words of Go's reverse proxy. */
function wrongProtocol(
  { upgrade: asked = '' }: Record<string, string>,
  { headers: { upgrade: answered = '' } }: IncomingMessage,
): string | undefined {
  if (asked !== '' && asked.toLowerCase() === answered.toLowerCase()) return undefined;
  const [to, from] = [answered, asked].map((one) => JSON.stringify(one.slice(0, 100)));
  return `backend tried to switch protocol ${to} when ${from} was requested`;
}

function answerOf({ headers }: IncomingMessage): Record<string, string | string[]> {
  return { ...headers } as Record<string, string | string[]>;
}
