import type { Entry } from '../store.ts';
import { MAX_FRAME } from './ops.ts';
import { WIDE } from './out.ts';

/** What came is no frame: a mistake in this folder. */
export class BadFrame extends Error {
  constructor(what: string) {
    super(`the pipe to the store brought ${what}`);
    this.name = 'BadFrame';
  }
}

/** Reads one frame. Nothing outside of it is read: that fails with BadFrame. */
export class Cursor {
  #bytes: Buffer = Buffer.alloc(0);
  #view = new DataView(this.#bytes.buffer, 0, 0);
  #at = 0;
  #end = 0;

  open(bytes: Buffer, start: number, end: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    this.#at = start;
    this.#end = end;
  }

  /** Lets go of the bytes. */
  drop(): void {
    this.open(Buffer.alloc(0), 0, 0);
  }

  get more(): boolean {
    return this.#at < this.#end;
  }

  u8(): number {
    const at = this.#take(1);
    return this.#view.getUint8(at);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8));
  }

  string(): string {
    const length = this.u32();
    if (length < WIDE) {
      const at = this.#take(length);
      return this.#bytes.toString('latin1', at, at + length);
    }
    const at = this.#take(length - WIDE);
    return this.#bytes.toString('utf16le', at, at + length - WIDE);
  }

  /** A part of what came: it keeps all of that in memory. */
  value(): Buffer {
    const length = this.u32();
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  entry(): Entry {
    const key = this.string();
    const revision = this.f64();
    const created = this.f64();
    return { key, value: this.value(), revision, created };
  }

  /** How much memory a part of what came keeps. */
  get pinned(): number {
    return this.#bytes.buffer.byteLength;
  }

  done(): void {
    if (this.#at !== this.#end) throw new BadFrame(`a frame with ${this.#end - this.#at} bytes too many`);
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#end)
      throw new BadFrame(`a frame that ends ${at + length - this.#end} bytes early`);
    this.#at = at + length;
    return at;
  }
}

/** Cuts what comes into frames. One that comes in pieces is put together where there is room for all of it. */
export class Frames {
  readonly #cursor = new Cursor();
  readonly #head = Buffer.alloc(4);
  #headBytes = 0;
  #partial: Buffer | undefined;
  #partialBytes = 0;

  /** Calls `each` with every frame that is whole by now. */
  feed(chunk: Buffer, each: (frame: Cursor) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#partial !== undefined) at = this.#fill(this.#partial, chunk, at, each);
      else if (this.#headBytes > 0 || chunk.length - at < 4) at = this.#fillHead(chunk, at);
      else {
        const length = checkLength(chunk.readUInt32BE(at));
        at += 4;
        if (chunk.length - at >= length) {
          this.#cursor.open(chunk, at, at + length);
          each(this.#cursor);
          at += length;
        } else this.#beginPartial(length);
      }
    }
    this.#cursor.drop();
  }

  #fillHead(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#head, this.#headBytes, at);
    this.#headBytes += taken;
    if (this.#headBytes === 4) {
      this.#headBytes = 0;
      this.#beginPartial(checkLength(this.#head.readUInt32BE(0)));
    }
    return at + taken;
  }

  #beginPartial(length: number): void {
    this.#partial = Buffer.allocUnsafeSlow(length);
    this.#partialBytes = 0;
  }

  #fill(partial: Buffer, chunk: Buffer, at: number, each: (frame: Cursor) => void): number {
    const taken = chunk.copy(partial, this.#partialBytes, at);
    this.#partialBytes += taken;
    if (this.#partialBytes === partial.length) {
      this.#partial = undefined;
      this.#cursor.open(partial, 0, partial.length);
      each(this.#cursor);
    }
    return at + taken;
  }
}

function checkLength(length: number): number {
  if (length < 5 || length > MAX_FRAME) throw new BadFrame(`a frame of ${length} bytes`);
  return length;
}
