import { setTimeout as pause } from 'node:timers/promises';

export interface BatchOptions {
  bufferSize: number;
  batchSize: number;
  maxWaitMs: number;
  backoffMs: number;
  /** Rejects where the events did not arrive. */
  send(events: readonly Uint8Array[]): Promise<void>;
  /** Told of events that are lost: there was no room for them, or `error` is why. */
  dropped(count: number, error?: unknown): void;
}

const attempts = 5;
const factor = 1.5;
/** Events of long objects are fewer. */
const mostBytes = 64 * 1024 * 1024;
const batchBytes = 8 * 1024 * 1024;

/** Events on their way to another program, some at a time: who writes never waits, and what there is no room for is dropped. */
export class Batches {
  readonly #options: BatchOptions;
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  write(given: string | Uint8Array): void {
    const { bufferSize, maxWaitMs, dropped } = this.#options;
    if (this.#waiting.length >= bufferSize || this.#bytes > mostBytes) return void dropped(1);
    const event = typeof given === 'string' ? Buffer.from(given) : given;
    this.#waiting.push(event);
    this.#bytes += event.length;
    if (this.#isFull()) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), maxWaitMs).unref();
  }

  /** What waits is sent once more at once; what fails then is dropped. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#begin();
    await this.#sending;
  }

  #isFull(): boolean {
    return this.#waiting.length >= this.#options.batchSize || this.#bytes >= batchBytes;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0)
        this.#timer ??= setTimeout(() => this.#begin(), this.#options.maxWaitMs).unref();
    });
  }

  async #sendAll(): Promise<void> {
    do await this.#sendOne(this.#next());
    while (this.#isFull() || (this.#closing.signal.aborted && this.#waiting.length > 0));
  }

  #next(): Uint8Array[] {
    let [count, bytes] = [0, 0];
    for (const { length } of this.#waiting) {
      if (count === this.#options.batchSize || (count > 0 && bytes + length > batchBytes)) break;
      count++;
      bytes += length;
    }
    this.#bytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #sendOne(events: readonly Uint8Array[]): Promise<void> {
    if (events.length === 0) return;
    const { backoffMs, send, dropped } = this.#options;
    const { signal } = this.#closing;
    let why: unknown;
    for (let attempt = 0; attempt < attempts; attempt++) {
      try {
        return await send(events);
      } catch (error) {
        why = error;
        if (signal.aborted || attempt + 1 === attempts) break;
        const wait = backoffMs * factor ** attempt;
        await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    dropped(events.length, why);
  }
}
