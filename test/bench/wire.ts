import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';

/**
 * HTTP/1.1 over TLS at the least cost to the client, which shares the machine's cores with the server: requests
 * are bytes made by the caller, of an answer only the status and the length are looked at.
 */
export interface Wire {
  /** What each request has to carry besides its method and path. */
  headers: string;
  /** On connection `i`, which must have no request under way. Answers the HTTP status. */
  send(i: number, request: Buffer | string): Promise<number>;
  /** On connection `i`, which is used up by it: everything that comes goes to `take`. */
  stream(i: number, request: string, take: (bytes: Buffer) => void): void;
  /** Bytes of answers so far. */
  received(): number;
  close(): void;
}

export async function openWire(kubeconfig: string, connections: number): Promise<Wire> {
  const config = new KubeConfig();
  config.loadFromString(await readFile(kubeconfig, 'utf8'));
  const url = new URL(config.getCurrentCluster()?.server ?? '');
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return openLines(url, options, authorization(config), connections);
}

async function openLines(
  url: URL,
  { ca, cert, key }: RequestOptions,
  authorized: string,
  connections: number,
): Promise<Wire> {
  const base = url.pathname.replace(/\/$/, '');
  const lines = Array.from({ length: connections }, () =>
    openLine({
      host: url.hostname,
      port: Number(url.port || 443),
      servername: /^[\d.]+$/.test(url.hostname) ? '' : url.hostname,
      ...(ca ? { ca: ca as Buffer } : { rejectUnauthorized: false }),
      ...(cert && { cert: cert as Buffer }),
      ...(key && { key: key as Buffer }),
      ALPNProtocols: ['http/1.1'],
    }),
  );
  const open = await Promise.all(lines);
  return {
    headers: `Host: ${url.host}\r\n${authorized}`,
    send: (i, request) => {
      const text = base === '' ? request : String(request).replace(' /', ` ${base}/`);
      return lineOf(open, i).send(text);
    },
    stream: (i, request, take) => {
      const { socket } = lineOf(open, i);
      socket.removeAllListeners('data').removeAllListeners('close').on('data', take);
      socket.write(base === '' ? request : request.replace(' /', ` ${base}/`));
    },
    received: () => open.reduce((sum, { socket }) => sum + socket.bytesRead, 0),
    close: () => {
      for (const line of open) line.socket.destroy();
    },
  };
}

/** Without a client certificate, to a server that anybody may ask. */
export function openPlainWire(url: string, connections: number): Promise<Wire> {
  return openLines(new URL(url), {}, '', connections);
}

function lineOf(open: readonly Line[], i: number): Line {
  const line = open[i % open.length];
  if (!line) throw new Error('no connection');
  return line;
}

function authorization(config: KubeConfig): string {
  const token = config.getCurrentUser()?.token;
  return token ? `Authorization: Bearer ${token}\r\n` : '';
}

interface Line {
  socket: TLSSocket;
  send(request: Buffer | string): Promise<number>;
}

function openLine(options: ConnectionOptions): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = connect(options, () => resolve({ socket, send }));
    let waiting: { done(status: number): void; fail(error: Error): void } | undefined;
    let answer: Answer | undefined;
    const fail = (error: Error) => {
      reject(error);
      waiting?.fail(error);
    };
    socket.setNoDelay(true);
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed the connection')));
    socket.on('data', (bytes) => {
      answer ??= new Answer();
      if (!answer.take(bytes)) return;
      const { status } = answer;
      answer = undefined;
      const { done } = waiting ?? {};
      waiting = undefined;
      done?.(status);
    });
    const send = (request: Buffer | string) =>
      new Promise<number>((done, failed) => {
        waiting = { done, fail: failed };
        socket.write(request);
      });
  });
}

/** One response, as its bytes arrive. */
class Answer {
  status = 0;
  #head: Buffer = Buffer.alloc(0);
  #left: number | 'chunked' | undefined;
  #tail = Buffer.alloc(0);

  /** True once it is complete. */
  take(bytes: Buffer): boolean {
    if (this.#left === undefined) {
      this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return false;
      const head = this.#head.toString('latin1', 0, end);
      this.status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: (\d+)/i.exec(head);
      this.#left = length ? Number(length[1]) : 'chunked';
      return this.#body(this.#head.subarray(end + 4));
    }
    return this.#body(bytes);
  }

  #body(bytes: Buffer): boolean {
    if (this.#left !== 'chunked') {
      this.#left = (this.#left ?? 0) - bytes.length;
      return this.#left <= 0;
    }
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-5)]).subarray(-5);
    return this.#tail.toString('latin1') === '0\r\n\r\n';
  }
}
