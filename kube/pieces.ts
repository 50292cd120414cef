/** Shorter ones are copied: each by itself takes a hundred bytes and more. */
const shortBytes = 4 << 10;
const blockBytes = 16 << 10;
const none = Buffer.alloc(0);

/** What comes in pieces, however small whoever sends it makes them: it takes no more memory than in one. */
export class Pieces {
  readonly #all: Uint8Array[] = [];
  /** Where short ones go: from `#start` to `#end` there are some, which are none of `#all` yet. */
  #block = none;
  #start = 0;
  #end = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const isFirst = this.#length === 0;
    this.#length += piece.length;
    if (isFirst || piece.length >= shortBytes) {
      this.#close();
      this.#all.push(piece);
      return;
    }
    if (piece.length > this.#block.length - this.#end) {
      this.#close();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
      this.#start = this.#end = 0;
    }
    this.#block.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** What came until now. */
  whole(): Uint8Array {
    this.#close();
    const [first] = this.#all;
    return this.#all.length === 1 && first ? first : Buffer.concat(this.#all);
  }

  #close(): void {
    if (this.#end > this.#start) this.#all.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
