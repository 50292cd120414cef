import { DecodeError } from './errors.ts';
import { bytes, endGroup, fixed32, fixed64, startGroup, varint } from './wire.ts';

const text = new TextDecoder();

/** Reads one buffer forwards. Every method throws DecodeError rather than read past `end`. */
export class Reader {
  position: number;
  readonly end: number;
  readonly #data: Uint8Array;

  constructor(data: Uint8Array, start = 0, end = data.length) {
    this.#data = data;
    this.position = start;
    this.end = end;
  }

  get done(): boolean {
    return this.position >= this.end;
  }

  /** The next field's number and wire type, as the wire packs them: number << 3 | type. */
  key(): number {
    const key = this.int64();
    if (key < 8 || key > 0xffffffff)
      throw new DecodeError(`proto: illegal tag ${Math.floor(key / 8)} (wire type ${key & 7})`);
    if ((key & 7) === endGroup) throw new DecodeError('proto: wiretype end group for non-group');
    return key;
  }

  #byte(): number {
    if (this.position >= this.end) throw new DecodeError('unexpected EOF');
    return this.#data[this.position++] ?? 0;
  }

  /** A varint as a signed 64-bit integer; beyond 2^53 to the nearest double, as JSON.parse would read it. */
  int64(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high |= part >> 4;
      } else high |= part << (shift - 32);
      if (byte < 0x80) return high === 0 ? low >>> 0 : (high | 0) * 0x100000000 + (low >>> 0);
    }
    throw new DecodeError('proto: integer overflow');
  }

  /** As kube/json.ts holds integers: a bigint where a double is not exact. */
  exactInt64(): number | bigint {
    const start = this.position;
    const near = this.int64();
    if (Number.isSafeInteger(near)) return near;
    let exact = 0n;
    for (let at = this.position - 1; at >= start; at--)
      exact = (exact << 7n) | BigInt((this.#data[at] ?? 0) & 0x7f);
    return BigInt.asIntN(64, exact);
  }

  int32(): number {
    return this.int64() | 0;
  }

  double(): number {
    const at = this.#take(8);
    return new DataView(this.#data.buffer, this.#data.byteOffset + at, 8).getFloat64(0, true);
  }

  #take(length: number): number {
    const at = this.position;
    if (length < 0) throw new DecodeError('proto: negative length found during unmarshaling');
    if (length > this.end - at) throw new DecodeError('unexpected EOF');
    this.position = at + length;
    return at;
  }

  /** A length-delimited field's bytes, shared with the buffer. */
  bytes(): Uint8Array {
    const length = this.int64();
    const at = this.#take(length);
    return this.#data.subarray(at, at + length);
  }

  string(): string {
    return text.decode(this.bytes());
  }

  /** A reader of the length-delimited field that comes next. */
  message(): Reader {
    const length = this.int64();
    const at = this.#take(length);
    return new Reader(this.#data, at, at + length);
  }

  skip(wire: number): void {
    if (wire === varint) this.int64();
    else if (wire === fixed64) this.#take(8);
    else if (wire === bytes) this.#take(this.int64());
    else if (wire === fixed32) this.#take(4);
    else if (wire === startGroup) this.#skipGroup();
    else throw new DecodeError(`proto: illegal wireType ${wire}`);
  }

  /** Without recursion: groups nest as deep as somebody likes. */
  #skipGroup(): void {
    for (let depth = 1; depth > 0; ) {
      const wire = this.int64() & 7;
      if (wire === startGroup) depth++;
      else if (wire === endGroup) depth--;
      else this.skip(wire);
    }
  }
}
