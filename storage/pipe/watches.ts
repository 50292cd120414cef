import type { Range, Store } from '../store.ts';
import { asStoreError, writeError } from './errors.ts';
import { Tell } from './ops.ts';
import type { Outbox } from './outbox.ts';
import type { Push } from './push.ts';

/** A process that does not read gets no more events than these; later it goes on from history. */
export const BACKLOG_BYTES = 4 << 20;

interface Parts {
  readonly box: Outbox;
  readonly push: Push;
  readonly tell: (op: number, id: number, body?: () => void) => void;
}

interface Watch {
  /** Nothing is told of it any more. */
  over: boolean;
  stop: (() => void) | undefined;
}

/** The watches of one channel. */
export class ServedWatches {
  readonly #store: Store;
  readonly #parts: Parts;
  readonly #watches = new Map<number, Watch>();
  readonly #stops: (() => void)[] = [];
  #over = false;

  constructor(store: Store, parts: Parts) {
    this.#store = store;
    this.#parts = parts;
  }

  begin(id: number, range: Range, after: number): () => Promise<void> {
    const { push, box, tell } = this.#parts;
    const watch: Watch = { over: false, stop: undefined };
    this.#watches.set(id, watch);
    return async () => {
      try {
        const stop = await this.#store.watch(range, {
          after,
          sink: (events) => {
            if (!watch.over) push.give(id, events);
          },
          onEnd: (reason) => {
            if (!this.#forget(id, watch)) return;
            tell(Tell.ended, id, () => writeError(box.out, asStoreError(reason)));
          },
          pause: () => (watch.over ? undefined : box.room(BACKLOG_BYTES)),
          onSynced: (yes) => {
            if (!watch.over) push.synced(id, yes);
          },
        });
        if (watch.over) return stop();
        watch.stop = stop;
        tell(Tell.watching, id);
      } catch (error) {
        if (this.#forget(id, watch)) throw error;
      }
    };
  }

  end(id: number): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    this.#forget(id, watch);
    watch.stop?.();
  }

  /** Called when all of them stop. */
  onStop(stop: () => void): void {
    if (this.#over) stop();
    else this.#stops.push(stop);
  }

  stop(): void {
    this.#over = true;
    for (const id of [...this.#watches.keys()]) this.end(id);
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** False: it was over already. */
  #forget(id: number, watch: Watch): boolean {
    if (watch.over) return false;
    watch.over = true;
    this.#watches.delete(id);
    return true;
  }
}
