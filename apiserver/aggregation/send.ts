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

/** The answer, as it comes. Rejects with what node says, and then is over. Redirects are answers like any. */
export function send({ options, body, signal, over }: Sending): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const request = https.request({ ...options, signal });
    request.on('error', (error) => {
      const { code } = error as NodeJS.ErrnoException;
      reject(Object.assign(error, { stale: request.reusedSocket && code === 'ECONNRESET' }));
    });
    request.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.once('close', over);
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

function answerOf({ headers }: IncomingMessage): Record<string, string | string[]> {
  return { ...headers } as Record<string, string | string[]>;
}
