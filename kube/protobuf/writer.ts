/**
 * Writes one buffer backwards, from its end to its start: a message's length is then known when it is written, and
 * no part is copied. Whoever calls writes the last field first, and of each field the value before its key.
 */
export class Writer {
  #data: Uint8Array;
  #at: number;

  constructor(capacity = 1024) {
    this.#data = new Uint8Array(capacity);
    this.#at = capacity;
  }

  /** How many bytes are written so far. */
  get length(): number {
    return this.#data.length - this.#at;
  }

  finish(): Uint8Array {
    return this.#data.subarray(this.#at);
  }

  #room(size: number): number {
    if (this.#at < size) {
      const used = this.length;
      const grown = new Uint8Array(Math.max(this.#data.length * 2, used + size));
      grown.set(this.finish(), grown.length - used);
      this.#data = grown;
      this.#at = grown.length - used;
    }
    this.#at -= size;
    return this.#at;
  }

  raw(data: Uint8Array): void {
    const at = this.#room(data.length);
    this.#data.set(data, at);
  }

  /** An unsigned integer below 2^53, or a negative one as its 64-bit two's complement. */
  varint(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value < 0x80) {
      const at = this.#room(1);
      this.#data[at] = value;
      return;
    }
    const digits: number[] = [];
    if (typeof value === 'number' && value >= 0) {
      let rest = value;
      for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) digits.push((rest % 0x80) | 0x80);
      digits.push(rest);
    } else {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest > 0x7fn; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80);
      digits.push(Number(rest));
    }
    const at = this.#room(digits.length);
    this.#data.set(digits, at);
  }

  key(tag: number, wire: number): void {
    this.varint(tag * 8 + wire);
  }

  double(value: number): void {
    const at = this.#room(8);
    new DataView(this.#data.buffer, at, 8).setFloat64(0, value, true);
  }

  /** Bytes with their length before them. */
  bytes(data: Uint8Array): void {
    this.raw(data);
    this.varint(data.length);
  }

  string(value: string): void {
    const data = Buffer.from(value, 'utf8');
    this.bytes(data);
  }

  /** What `write` adds, as a length-delimited field `tag`. */
  message(tag: number, write: () => void): void {
    const before = this.length;
    write();
    this.varint(this.length - before);
    this.key(tag, 2);
  }
}
