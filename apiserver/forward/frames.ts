import { randomBytes } from 'node:crypto';

/** https://www.rfc-editor.org/rfc/rfc6455, as much of it as a client needs. */
export const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const;
const maxControlBytes = 125;
/** What carries a connection sends what it has read of it, 32 KiB at a time. */
const maxMessageBytes = 1 << 20;

export class FrameError extends Error {}

/** One whole message, masked, as a client's must be. */
export function frame(opcode: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const begin = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const bytes = Buffer.allocUnsafe(begin + 4 + length);
  bytes[0] = 0x80 | opcode;
  bytes[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (begin === 4) bytes.writeUInt16BE(length, 2);
  if (begin === 10) bytes.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  mask.copy(bytes, begin);
  let at = begin + 4;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  for (let i = 0; i < length; i++) {
    const byte = begin + 4 + i;
    bytes[byte] = (bytes[byte] ?? 0) ^ (mask[i & 3] ?? 0);
  }
  return bytes;
}

/** Who is told what a server sends. */
export interface Receiver {
  /** A piece of a binary message to that channel, which is its first byte. */
  data(channel: number, piece: Buffer): void;
  control(opcode: number, payload: Buffer): void;
}

/**
 * Reads what a server sends as it comes: of a message of data nothing is kept, of anything else 125 bytes. Throws FrameError, once,
 * where that is not what a server of channels sends.
 */
export class FrameReader {
  readonly #receiver: Receiver;
  /** Of a frame's beginning, or of a control frame. */
  #pending = Buffer.alloc(0);
  /** Of the message that is read. */
  #left = 0;
  #channel: number | undefined;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  read(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#left > 0 ? this.#payload(rest) : this.#begin(rest);
  }

  /** The rest of the bytes, past what belongs to the message. */
  #payload(bytes: Buffer): Buffer {
    const length = Math.min(this.#left, bytes.length);
    this.#left -= length;
    const isFirst = this.#channel === undefined;
    const channel = this.#channel ?? bytes[0] ?? 0;
    this.#channel = this.#left > 0 ? channel : undefined;
    const piece = bytes.subarray(isFirst ? 1 : 0, length);
    if (piece.length > 0) this.#receiver.data(channel, piece);
    return bytes.subarray(length);
  }

  /** The rest, past a frame's beginning, or past a control frame; empty where either is not whole yet. */
  #begin(bytes: Buffer): Buffer {
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const [first = 0, second = 0] = all;
    const opcode = first & 0x0f;
    const isControl = opcode >= opcodes.close;
    if (all.length >= 2) check(first, second, isControl);
    const short = second & 0x7f;
    const begin = short < 126 ? 2 : short === 126 ? 4 : 10;
    const needed = isControl ? begin + short : begin;
    if (all.length < Math.max(2, needed)) {
      this.#pending = Buffer.from(all);
      return Buffer.alloc(0);
    }
    this.#pending = Buffer.alloc(0);
    if (isControl) {
      this.#receiver.control(opcode, all.subarray(begin, needed));
    } else {
      const length =
        short < 126 ? short : short === 126 ? all.readUInt16BE(2) : Number(all.readBigUInt64BE(2));
      if (length > maxMessageBytes) throw new FrameError(`a message of ${length} bytes`);
      this.#left = length;
    }
    return all.subarray(needed);
  }
}

/** No extension was asked for, a server masks nothing, and a message is one frame. */
function check(first: number, second: number, isControl: boolean): void {
  const opcode = first & 0x0f;
  if ((first & 0x80) === 0) throw new FrameError('a message in parts');
  if ((first & 0x70) !== 0) throw new FrameError('an extension that nobody asked for');
  if ((second & 0x80) !== 0) throw new FrameError('a masked frame');
  if (!(Object.values(opcodes) as number[]).includes(opcode)) throw new FrameError(`opcode ${opcode}`);
  if (isControl && (second & 0x7f) > maxControlBytes) throw new FrameError('a long control frame');
}
