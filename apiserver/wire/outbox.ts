import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers';

/**
 * Answers that are ready in the same turn of the event loop go out one after the other at its end. A write wakes the
 * process that reads, which costs more than the write itself when it has gone to sleep since the last one: of many
 * clients on few machines, half of a small answer's time. Where answers come one in a turn nobody is kept waiting.
 */
export class Outbox {
  #due: (() => void)[] = [];
  #inTurn = 0;
  #many = false;

  /** Ends an answer whose head is written. */
  end(out: ServerResponse, body: Uint8Array | undefined): void {
    if (this.#inTurn++ === 0) setImmediate(() => this.#endTurn());
    if (!this.#many) return void out.end(body);
    this.#due.push(() => {
      if (!out.destroyed) out.end(body);
    });
  }

  #endTurn(): void {
    const due = this.#due;
    this.#due = [];
    this.#many = this.#inTurn > 1;
    this.#inTurn = 0;
    for (const send of due) send();
  }
}
