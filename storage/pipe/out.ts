import type { Entry } from '../store.ts';
import { FRAME_HEAD } from './ops.ts';

const FIRST_BYTES = 64 << 10;
/** A buffer that had to grow beyond it is not used again. */
const KEPT_BYTES = 1 << 20;
/** While a long list goes out, so many are on their way at once. */
const MAX_SPARES = 3;
/** In the length of a string: it is not ASCII, two bytes each. */
export const WIDE = 0x8000_0000;

/** Frames, one after the other, in one buffer that grows. */
export class Out {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #view = viewOf(this.#bytes);
  readonly #spares: Buffer[] = [];
  #frame = 0;
  /** How many bytes there are. */
  length = 0;

  begin(op: number, id: number): void {
    this.#reserve(FRAME_HEAD);
    this.#frame = this.length;
    this.#bytes[this.length + 4] = op;
    this.#view.setUint32(this.length + 5, id);
    this.length += FRAME_HEAD;
  }

  end(): void {
    this.#view.setUint32(this.#frame, this.length - this.#frame - 4);
  }

  /** As if the frame had not been begun. */
  cancel(): void {
    this.length = this.#frame;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.length, value);
    this.length += 4;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.length, value);
    this.length += 8;
  }

  string(text: string): void {
    const { length } = text;
    this.#reserve(4 + 2 * length);
    const from = this.length + 4;
    const bytes = this.#bytes;
    // Keys are short and ASCII: a call out of JavaScript costs more than this. What a client asks for may be anything.
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return void this.#wide(text);
      bytes[from + i] = code;
    }
    this.#view.setUint32(this.length, length);
    this.length = from + length;
  }

  value(value: Uint8Array): void {
    const { length } = value;
    this.#reserve(4 + length);
    this.#view.setUint32(this.length, length);
    this.#bytes.set(value, this.length + 4);
    this.length += 4 + length;
  }

  entry({ key, value, revision, created }: Entry): void {
    this.string(key);
    this.f64(revision);
    this.f64(created);
    this.value(value);
  }

  /** Writes over what is at `at`. */
  patchU32(offset: number, value: number): void {
    this.#view.setUint32(offset, value);
  }

  patchF64(offset: number, value: number): void {
    this.#view.setFloat64(offset, value);
  }

  /** All there is, and begins anew. `giveBack` it when nobody reads it any more. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.length);
    this.#use(this.#spares.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES));
    this.length = 0;
    return taken;
  }

  giveBack(taken: Buffer): void {
    const { buffer } = taken;
    const isKept = buffer.byteLength <= KEPT_BYTES && this.#spares.length < MAX_SPARES;
    if (isKept) this.#spares.push(Buffer.from(buffer));
  }

  #wide(text: string): void {
    const bytes = 2 * text.length;
    this.#view.setUint32(this.length, WIDE + bytes);
    this.#bytes.write(text, this.length + 4, 'utf16le');
    this.length += 4 + bytes;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    let size = this.#bytes.length * 2;
    while (size < needed) size *= 2;
    const larger = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#use(larger);
  }

  #use(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
