import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2';
import { status } from '@grpc/grpc-js';
import type { CallError } from './errors.ts';

const PING_MS = 5000;
const FRAME = 5;

/**
 * Calls that are one message to one answer, of gRPC over HTTP/2, on one connection that is made anew when it is lost.
 * It costs the processor a third of what a channel of `@grpc/grpc-js` does, and every write is such a call; see
 * docs/decisions/0010-calls-to-etcd.md. Failures are CallErrors with gRPC's codes.
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class UnaryChannel {
  readonly #url: string;
  readonly #options: () => SecureClientSessionOptions;
  #session: ClientHttp2Session | undefined;
  #pinging = false;
  #closed = false;

  /** @param url with its scheme: `http://host:port`, or `https://` with `options`' certificates, as they are at each connection. */
  constructor(url: string, options: () => SecureClientSessionOptions = () => ({})) {
    this.#url = url;
    this.#options = options;
  }

  /** @param headers gRPC's metadata, e.g. a token. */
  call(
    path: string,
    message: Uint8Array,
    { headers, timeoutMs }: { headers: Readonly<Record<string, string>>; timeoutMs: number },
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(callError(status.CANCELLED, 'the connection was closed'));
      const session = this.#connected();
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc+proto',
        te: 'trailers',
        'grpc-timeout': `${Math.max(1, Math.ceil(timeoutMs))}m`,
        ...headers,
      });
      const late = setTimeout(() => {
        finish(callError(status.DEADLINE_EXCEEDED, `no answer within ${Math.round(timeoutMs)} ms`));
        stream.close();
        this.#probe(session);
      }, timeoutMs);
      let over = false;
      const finish = (outcome: CallError | Buffer) => {
        if (over) return;
        over = true;
        clearTimeout(late);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      read(stream, finish);
      stream.end(framed(message));
    });
  }

  /** Calls under way fail. */
  close(): void {
    this.#closed = true;
    this.#session?.destroy();
  }

  #connected(): ClientHttp2Session {
    const there = this.#session;
    if (there !== undefined && !there.destroyed && !there.closed) return there;
    const session = connect(this.#url, this.#options());
    this.#session = session;
    // Each call hears of it by its own stream; without a listener it would end the process.
    session.on('error', () => {});
    session.on('goaway', () => {
      if (this.#session === session) this.#session = undefined;
      session.close();
    });
    session.unref();
    return session;
  }

  /** After a call without an answer: is anybody there at all? A connection that is dead would swallow the next ones too. */
  #probe(session: ClientHttp2Session): void {
    if (this.#pinging || session.destroyed) return;
    if (session.connecting) return void session.destroy();
    this.#pinging = true;
    const done = () => {
      this.#pinging = false;
      clearTimeout(timer);
    };
    const timer = setTimeout(() => {
      done();
      session.destroy();
    }, PING_MS);
    session.once('close', done);
    session.ping((error) => {
      session.off('close', done);
      done();
      if (error) session.destroy();
    });
  }
}

/** The answer's message once its trailers say that all is well, else their error. */
function read(stream: ClientHttp2Stream, finish: (outcome: CallError | Buffer) => void): void {
  const pieces: Buffer[] = [];
  let trailers: IncomingHttpHeaders | undefined;
  stream.on('response', (headers) => {
    // An error without a message has its trailers here.
    if (headers['grpc-status'] !== undefined) trailers = headers;
    else if (headers[':status'] !== 200) {
      finish(callError(status.UNAVAILABLE, `HTTP status ${headers[':status']}`));
    }
  });
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('trailers', (given) => {
    trailers = given;
  });
  stream.on('error', (error) => finish(callError(status.UNAVAILABLE, error.message)));
  stream.on('close', () => finish(outcomeOf(trailers, pieces)));
}

function outcomeOf(trailers: IncomingHttpHeaders | undefined, pieces: readonly Buffer[]): CallError | Buffer {
  if (trailers === undefined) return callError(status.UNAVAILABLE, 'the connection was lost');
  const code = Number(trailers['grpc-status']);
  if (code !== status.OK) return callError(code, textOf(trailers['grpc-message']));
  const [first = Buffer.alloc(0)] = pieces;
  // Once, when all is there: an answer of many megabytes comes in thousands of pieces.
  const bytes = pieces.length > 1 ? Buffer.concat(pieces) : first;
  if (bytes.length < FRAME || bytes.length !== FRAME + bytes.readUInt32BE(1)) {
    return callError(status.INTERNAL, 'the answer is not one message');
  }
  if (bytes[0] !== 0) return callError(status.INTERNAL, 'the answer is compressed');
  return bytes.subarray(FRAME);
}

function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME);
  return frame;
}

function textOf(value: string | string[] | undefined): string {
  const text = String(value ?? '');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function callError(code: number, details: string): CallError {
  const message = `${code} ${status[code] ?? 'UNKNOWN'}: ${details}`;
  return Object.assign(new Error(message), { code: Number.isNaN(code) ? status.UNKNOWN : code, details });
}
