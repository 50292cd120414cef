/** Whole lines, which go out together. */
export interface Lines {
  bytes: Buffer;
  count: number;
}

/** Fewer and longer writes: each goes through a thread, which costs more than what it writes. */
const chunkBytes = 1024 * 1024;
const long = 64 * 1024;

/**
 * Lines as bytes, in the order in which they came. They become bytes at once: strings that wait are what collecting garbage
 * takes longest for.
 */
export class Waiting {
  #full: Lines[] = [];
  #fullBytes = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #used = 0;
  #count = 0;
  #spare: Buffer | undefined;

  get bytes(): number {
    return this.#fullBytes + this.#used;
  }

  add(line: string): void {
    // Three bytes for each unit of a string is the most that there can be.
    const most = 1 + (line.length > long ? Buffer.byteLength(line) : 3 * line.length);
    if (this.#chunk.length - this.#used < most) this.#turn(most);
    this.#used += this.#chunk.write(line, this.#used);
    this.#chunk[this.#used++] = 10;
    this.#count++;
  }

  take(): Lines[] {
    this.#put();
    const taken = this.#full;
    this.#full = [];
    this.#fullBytes = 0;
    return taken;
  }

  /** What was taken, and is not needed any more. */
  give({ bytes }: Lines): void {
    if (bytes.buffer.byteLength === chunkBytes) this.#spare = Buffer.from(bytes.buffer);
  }

  #turn(most: number): void {
    this.#put();
    this.#chunk =
      most > chunkBytes ? Buffer.allocUnsafeSlow(most) : (this.#spare ?? Buffer.allocUnsafeSlow(chunkBytes));
    this.#spare = undefined;
  }

  #put(): void {
    if (this.#count === 0) return;
    this.#full.push({ bytes: this.#chunk.subarray(0, this.#used), count: this.#count });
    this.#fullBytes += this.#used;
    this.#chunk = Buffer.alloc(0);
    this.#used = 0;
    this.#count = 0;
  }
}
