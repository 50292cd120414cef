import type { Connection } from './connection.ts';
import type { Keys } from './keys.ts';
import { newestRevision } from './read.ts';

/** So many questions may be under way; whoever comes later shares the next one. */
const PARALLEL = 4;

/**
 * Asks etcd for its newest revision on behalf of many readers at once. An answer serves only those who came before
 * its question was sent: it covers every write that anybody saw acknowledged by then.
 */
export class Confirm {
  readonly #connection: Pick<Connection, 'call'>;
  readonly #keys: Keys;
  #under = 0;
  #next: Promise<number> | undefined;
  #begin: (() => void) | undefined;

  constructor(connection: Pick<Connection, 'call'>, keys: Keys) {
    this.#connection = connection;
    this.#keys = keys;
  }

  revision(): Promise<number> {
    this.#next ??= this.#round();
    return this.#next;
  }

  async #round(): Promise<number> {
    await new Promise<void>((resolve) => {
      this.#begin = resolve;
      // Everybody of this turn of the event loop shares it.
      setImmediate(() => this.#pump());
    });
    this.#next = undefined;
    this.#under++;
    try {
      return await newestRevision(this.#connection, this.#keys);
    } finally {
      this.#under--;
      this.#pump();
    }
  }

  #pump(): void {
    if (this.#under >= PARALLEL || this.#begin === undefined) return;
    const begin = this.#begin;
    this.#begin = undefined;
    begin();
  }
}
