import { Duplex } from 'node:stream';
import { FrameError, FrameReader, frame, opcodes } from './frames.ts';

/** https://kubernetes.io/docs/reference/using-api/api-concepts/: of each port, its data and then its errors. */
export const forwardProtocol = 'v4.channel.k8s.io';
const channels = { data: 0, errors: 1 } as const;
/** One frame, which its reader takes into memory whole. */
const mostSent = 32 << 10;
const mostSaid = 300;
const lingerMs = 2_000;

/** There is no connection to a pod, or no more. */
export class ForwardError extends Error {}

/**
 * One connection to one port of a pod, in a WebSocket of the forward protocol, for that port alone. What the pod sends is read as
 * fast as it is taken. The protocol has no half-closed connection: who ends it reads no more.
 *
 * What fails is told by `failed`, before `close`, and never by `error`: TLS in a stream that errs ends the process.
 */
export class ForwardedConnection extends Duplex {
  failure: Error | undefined;
  readonly #tunnel: Duplex;
  readonly #port: number;
  readonly #reader: FrameReader;
  /** Of the port that each channel begins with, what has come. */
  readonly #begun = [Buffer.alloc(0), Buffer.alloc(0)];
  #isEnded = false;

  constructor(tunnel: Duplex, port: number) {
    super({ allowHalfOpen: false });
    this.#tunnel = tunnel;
    this.#port = port;
    this.#reader = new FrameReader({
      data: (channel, piece) => this.#data(channel, piece),
      control: (opcode, payload) => this.#control(opcode, payload),
    });
    tunnel.on('data', (chunk: Buffer) => this.#receive(chunk));
    tunnel.on('end', () => this.#cut());
    tunnel.on('error', (error) => this.fail(error));
    tunnel.on('close', () => this.#cut());
  }

  fail(error: Error): void {
    if (this.destroyed) return;
    this.failure = error;
    this.emit('failed', error);
    this.destroy();
  }

  override _read(): void {
    this.#tunnel.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const piece = chunk.subarray(0, mostSent);
    const rest = chunk.subarray(mostSent);
    const sent = (error?: Error | null) =>
      error || rest.length === 0 ? done(error) : this._write(rest, _encoding, done);
    this.#tunnel.write(frame(opcodes.binary, Buffer.from([channels.data]), piece), sent);
  }

  override _final(done: (error?: Error | null) => void): void {
    const over = () => this.destroy();
    this.#tunnel.end(frame(opcodes.close), over);
    // Whoever reads nothing more is not told.
    const late = setTimeout(over, lingerMs);
    this.once('close', () => clearTimeout(late));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tunnel.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    if (this.#isEnded || this.destroyed) return;
    try {
      this.#reader.read(chunk);
    } catch (error) {
      this.fail(new ForwardError(`the forward is no forward: ${(error as Error).message}`, { cause: error }));
    }
  }

  #data(channel: number, bytes: Buffer): void {
    if (this.#isEnded || this.destroyed) return;
    const begun = this.#begun[channel];
    if (begun === undefined) throw new FrameError(`data for channel ${channel}`);
    const missing = 2 - begun.length;
    const piece = bytes.subarray(missing);
    if (missing > 0) {
      const port = Buffer.concat([begun, bytes.subarray(0, missing)]);
      this.#begun[channel] = port;
      if (port.length === 2 && port.readUInt16LE() !== this.#port) throw new FrameError('another port');
    }
    if (piece.length === 0) return;
    if (channel === channels.errors) this.fail(new ForwardError(plain(piece)));
    else if (!this.push(piece)) this.#tunnel.pause();
  }

  /** Whoever pings and does not read what is answered is answered no more. */
  #control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.close) this.#end();
    else if (opcode === opcodes.ping && !this.#tunnel.writableNeedDrain && this.#tunnel.writable)
      this.#tunnel.write(frame(opcodes.pong, payload));
  }

  #end(): void {
    if (this.#isEnded || this.destroyed) return;
    this.#isEnded = true;
    this.push(null);
  }

  #cut(): void {
    if (this.#isEnded || this.destroyed) return;
    if (this.writableEnded) this.#end();
    else this.fail(Object.assign(new ForwardError('the forward was cut'), { code: 'ECONNRESET' }));
  }
}

/** What a node says: one line of it is shown to users. */
export function plain(said: Uint8Array): string {
  const [line = ''] = Buffer.from(said.subarray(0, mostSaid)).toString().trim().split('\n', 1);
  return line.replace(/\p{C}/gu, ' ');
}
