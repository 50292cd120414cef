import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import { Out } from './out.ts';

/**
 * What is due in one turn of the event loop goes out at its end, as one write: a write costs more than most frames,
 * and wakes the other process. When nothing else is going on, the end of the turn is now.
 */
export class Outbox {
  readonly out = new Out();
  readonly #channel: Duplex;
  readonly #prepare: () => void;
  #turn: NodeJS.Immediate | undefined;
  #over = false;
  readonly #waiting: { readonly limit: number; readonly resolve: () => void }[] = [];

  /** `prepare` runs before each write: the last frames of a turn. */
  constructor(channel: Duplex, prepare: () => void = () => {}) {
    this.#channel = channel;
    this.#prepare = prepare;
  }

  /** There is something to send. */
  touch(): void {
    if (this.#turn === undefined && !this.#over) this.#turn = setImmediate(this.#flush);
  }

  /** Whether nobody reads any more. */
  get over(): boolean {
    return this.#over;
  }

  /** Bytes that the other side did not take yet. */
  get backlog(): number {
    return this.#channel.writableLength + this.out.length;
  }

  /** Undefined when less than `limit` waits; else resolves when it does, or nobody reads any more. */
  room(limit: number): Promise<void> | undefined {
    if (this.#over || this.backlog < limit) return undefined;
    return new Promise((resolve) => this.#waiting.push({ limit, resolve }));
  }

  /** Sends what there is now. */
  flush(): void {
    if (this.#turn !== undefined) clearImmediate(this.#turn);
    this.#flush();
  }

  /** Nothing is sent any more. */
  stop(): void {
    this.#over = true;
    if (this.#turn !== undefined) clearImmediate(this.#turn);
    this.#turn = undefined;
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  readonly #flush = (): void => {
    this.#turn = undefined;
    if (this.#over) return;
    this.#prepare();
    if (this.out.length === 0) return;
    const bytes = this.out.take();
    this.#channel.write(bytes, () => {
      this.out.giveBack(bytes);
      this.#wake();
    });
  };

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const { backlog } = this;
    for (const waiter of this.#waiting.splice(0)) {
      if (backlog < waiter.limit) waiter.resolve();
      else this.#waiting.push(waiter);
    }
  }
}
