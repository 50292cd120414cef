import type { Later } from '../../../kube/later.ts';

/** How much may wait for a reader, and for how long. */
export interface StreamLimits {
  bufferBytes: number;
  stallMillis: number;
  /** Told when a reader is cut. */
  onCut?: (() => void) | undefined;
}

/** A burst that memory could not hold is cut at once, whoever reads. */
const burstFactor = 32;

/**
 * Bytes, or what is as long as some bytes, from a producer that cannot wait to a reader that may be slow. A reader
 * that leaves more than the limit waiting and takes nothing for `stallMillis` is cut: its stream ends, it lists again.
 */
export class EventStream<T extends { readonly length: number } = Uint8Array, Batch = T>
  implements AsyncIterable<Batch>
{
  readonly #limits: StreamLimits;
  readonly #onEnd: (() => void)[];
  #onBegun: (() => void)[] = [];
  #hasBegun = false;
  readonly #join: (parts: T[]) => Later<Batch>;
  #head: Iterator<T[]> | undefined;
  #taken = 0;
  #queue: T[] = [];
  #buffered = 0;
  #lastTaken = performance.now();
  #stall: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #room: { promise: Promise<void>; resolve: () => void } | undefined;
  #ended = false;
  #cut = false;
  #left = false;

  /**
   * @param onEnd frees what feeds the stream; called once, when it ended or the reader left.
   * @param join what the reader gets of the parts, never none, that wait for it.
   */
  constructor(limits: StreamLimits, onEnd: () => void, join: (parts: T[]) => Later<Batch>) {
    this.#limits = limits;
    this.#onEnd = [onEnd];
    this.#join = join;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Called, too, when it ended or the reader left. */
  whenOver(run: () => void): void {
    if (this.#left) run();
    else this.#onEnd.push(run);
  }

  /** Called when what comes before everything pushed was taken, or nobody will take it. */
  whenBegun(run: () => void): void {
    if (this.#hasBegun) run();
    else this.#onBegun.push(run);
  }

  /** What comes before everything pushed; made only as the reader takes it. */
  begin(head: Iterable<T>): void {
    this.#head = inChunks(head);
  }

  /** How many bytes were taken of what it begins with. */
  get taken(): number {
    return this.#taken;
  }

  push(part: T): void {
    if (this.#ended) return;
    this.#queue.push(part);
    this.#buffered += part.length;
    this.#wake?.();
    if (this.#buffered <= this.#limits.bufferBytes) return;
    if (this.#buffered > this.#limits.bufferBytes * burstFactor) this.cut();
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
    } else if (performance.now() - this.#lastTaken >= this.#limits.stallMillis) this.cut();
  }

  /** It ends for its reader, and nothing of what that would have got is held any more. */
  cut(): void {
    this.#cut = true;
    this.#queue = [];
    this.#head?.return?.();
    this.#head = undefined;
    this.#limits.onCut?.();
    this.end();
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    for (const run of this.#onEnd) run();
  }

  #begun(): void {
    this.#hasBegun = true;
    const runs = this.#onBegun;
    this.#onBegun = [];
    for (const run of runs) run();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch> {
    try {
      // Held in one place alone: a watch may last long after what it begins with.
      for (let next = this.#head?.next(); next && !next.done; next = this.#head?.next()) {
        this.#lastTaken = performance.now();
        for (const { length } of next.value) this.#taken += length;
        yield this.#join(next.value);
      }
      this.#head = undefined;
      this.#begun();
      while (!this.#cut) {
        const batch = this.#queue;
        this.#queue = [];
        this.#buffered = 0;
        this.#makeRoom();
        this.#lastTaken = performance.now();
        if (batch.length > 0) {
          yield this.#join(batch);
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
      this.#begun();
    }
  }
}

export function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const chunkBytes = 65_536;

function* inChunks<T extends { readonly length: number }>(parts: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  let size = 0;
  for (const part of parts) {
    batch.push(part);
    size += part.length;
    if (size < chunkBytes) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}
