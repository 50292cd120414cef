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
  const connection: ConnectionOptions = {
    host: url.hostname,
    port: Number(url.port || 443),
    servername: /^[\d.]+$/.test(url.hostname) ? '' : url.hostname,
    ...(ca ? { ca: ca as Buffer } : { rejectUnauthorized: false }),
    ...(cert && { cert: cert as Buffer }),
    ...(key && { key: key as Buffer }),
    ALPNProtocols: ['http/1.1'],
  };
  const lines = Array.from({ length: connections }, () => new Line(connection));
  await Promise.all(lines.map((line) => line.open()));
  return {
    headers: `Host: ${url.host}\r\n${authorized}`,
    send: (i, request) => {
      const text = base === '' ? request : String(request).replace(' /', ` ${base}/`);
      return lineOf(lines, i).send(text);
    },
    stream: (i, request, take) => {
      lineOf(lines, i).stream(base === '' ? request : request.replace(' /', ` ${base}/`), take);
    },
    received: () => lines.reduce((sum, { received }) => sum + received, 0),
    close: () => {
      for (const line of lines) line.close();
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

/** One connection; where the server says that it closes it, the next request opens another. */
class Line {
  readonly #options: ConnectionOptions;
  #socket: TLSSocket | undefined;
  #received = 0;
  #take: ((bytes: Buffer) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get received(): number {
    return this.#received + (this.#socket?.bytesRead ?? 0);
  }

  /** Listens once for all requests: to do so for each would cost more than all else that is done for it here. */
  open(): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#options, () => resolve(socket));
      // What an earlier socket says is of no concern to the requests of this one.
      const fail = (error: Error) => {
        if (this.#socket === socket) this.#fail?.(error);
      };
      this.#socket = socket;
      this.#fail = reject;
      socket.setNoDelay(true);
      socket.on('data', (bytes) => this.#take?.(bytes));
      socket.on('error', fail);
      socket.on('close', () => fail(new Error('the server closed the connection')));
    });
  }

  async send(request: Buffer | string): Promise<number> {
    const socket = this.#socket ?? (await this.open());
    const { status, closes } = await this.#exchange(socket, request);
    if (closes) this.close();
    return status;
  }

  stream(request: string, take: (bytes: Buffer) => void): void {
    this.#take = take;
    this.#socket?.write(request);
  }

  close(): void {
    this.#received = this.received;
    this.#take = undefined;
    this.#fail = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #exchange(socket: TLSSocket, request: Buffer | string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = new Answer();
      this.#fail = reject;
      this.#take = (bytes) => {
        if (answer.take(bytes)) resolve(answer);
      };
      socket.write(request);
    });
  }
}

const NOTHING = Buffer.alloc(0);

/** One response, as its bytes arrive. */
class Answer {
  status = 0;
  closes = false;
  #head: Buffer = NOTHING;
  #left: number | 'chunked' | undefined;
  #tail: Buffer = NOTHING;

  /** True once it is complete. */
  take(bytes: Buffer): boolean {
    if (this.#left === undefined) {
      this.#head = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return false;
      const head = this.#head.toString('latin1', 0, end);
      this.status = Number(head.slice(9, 12));
      this.closes = /\r\nconnection: close/i.test(head);
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
