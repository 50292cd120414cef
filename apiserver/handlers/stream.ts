/** How much may wait for a reader, and for how long. */
export interface StreamLimits {
  bufferBytes: number;
  stallMillis: number;
}

/** A burst that memory could not hold is cut at once, whoever reads. */
const burstFactor = 32;

/**
 * Bytes from a producer that cannot wait to a reader that may be slow. A reader that leaves more than the limit
 * waiting and takes nothing for `stallMillis` is cut: its stream ends, it lists again.
 */
export class EventStream implements AsyncIterable<Uint8Array> {
  readonly #limits: StreamLimits;
  readonly #onEnd: () => void;
  #head: Iterable<Uint8Array> = [];
  #queue: Uint8Array[] = [];
  #buffered = 0;
  #lastTaken = Date.now();
  #stall: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #room: { promise: Promise<void>; resolve: () => void } | undefined;
  #ended = false;
  #cut = false;
  #left = false;

  /** @param onEnd frees what feeds the stream; called once, when it ended or the reader left. */
  constructor(limits: StreamLimits, onEnd: () => void) {
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** What comes before everything pushed; made only as the reader takes it. */
  begin(head: Iterable<Uint8Array>): void {
    this.#head = head;
  }

  push(bytes: Uint8Array): void {
    if (this.#ended) return;
    this.#queue.push(bytes);
    this.#buffered += bytes.length;
    this.#wake?.();
    if (this.#buffered <= this.#limits.bufferBytes) return;
    if (this.#buffered > this.#limits.bufferBytes * burstFactor) this.#cutOff();
    else if (this.#stall === undefined) {
      this.#stall = setInterval(() => this.#checkStall(), Math.max(10, this.#limits.stallMillis / 10));
      this.#stall.unref();
    }
  }

  /** Pending while so much waits for the reader that a producer which can wait should. */
  pause(): Promise<void> | undefined {
    if (this.#ended || this.#buffered <= this.#limits.bufferBytes / 4) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  /** What was pushed before is still delivered. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#stall);
    this.#wake?.();
    this.#makeRoom();
    this.#leave();
  }

  #checkStall(): void {
    if (this.#buffered <= this.#limits.bufferBytes) {
      clearInterval(this.#stall);
      this.#stall = undefined;
    } else if (Date.now() - this.#lastTaken >= this.#limits.stallMillis) this.#cutOff();
  }

  #cutOff(): void {
    this.#cut = true;
    this.#queue = [];
    this.end();
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#onEnd();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (const bytes of inChunks(this.#head)) {
        if (this.#cut) return;
        this.#lastTaken = Date.now();
        yield bytes;
      }
      while (!this.#cut) {
        const batch = this.#queue;
        this.#queue = [];
        this.#buffered = 0;
        this.#makeRoom();
        this.#lastTaken = Date.now();
        if (batch.length > 0) {
          yield batch.length === 1 && batch[0] ? batch[0] : Buffer.concat(batch);
          continue;
        }
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.end();
    }
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const chunkBytes = 65_536;

function* inChunks(parts: Iterable<Uint8Array>): Iterable<Uint8Array> {
  let batch: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    batch.push(part);
    size += part.length;
    if (size < chunkBytes) continue;
    yield Buffer.concat(batch);
    batch = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(batch);
}
