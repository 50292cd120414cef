import type { KubeObject } from '../../kube/object.ts';
import type { Entry, Range, Store } from '../../storage/store.ts';
import { decodeStored } from './codec.ts';
import { follow } from './follow.ts';

/**
 * Tells what the store has in a range, whichever server wrote it. A write of this server is told before it is answered, for the
 * watch may tell of it later.
 */
export class Ahead {
  readonly #range: Range;
  readonly #learn: (key: string, object: KubeObject | undefined) => void;
  /** The newest revision up to which all was told. */
  #told = 0;
  /** What writes of this server told of, ahead of the watch. */
  readonly #ahead = new Map<string, number>();

  constructor(range: Range, learn: (key: string, object: KubeObject | undefined) => void) {
    this.#range = range;
    this.#learn = learn;
  }

  /** Resolves when all that was there by then is known; rejects when the store cannot be read. */
  follow(store: Store, signal: AbortSignal): Promise<void> {
    const hear = (key: string, object: KubeObject | undefined, revision: number): void => {
      this.#told = Math.max(this.#told, revision);
      if ((this.#ahead.get(key) ?? 0) > revision) return;
      this.#ahead.delete(key);
      this.#learn(key, object);
    };
    const put = (entry: Entry) => hear(entry.key, decodeStored(entry), entry.revision);
    const gone = (key: string, revision: number) => hear(key, undefined, revision);
    const listed = (there: ReadonlySet<string>, revision: number) => {
      this.#told = Math.max(this.#told, revision);
      for (const [key, at] of this.#ahead) if (at <= revision && !there.has(key)) gone(key, revision);
    };
    return follow(store, this.#range, { put, gone, listed }, signal);
  }

  /** This server wrote, or deleted, just now. */
  wrote(key: string, object: KubeObject | undefined, revision: number): void {
    if (revision <= this.#told || revision <= (this.#ahead.get(key) ?? 0)) return;
    this.#ahead.set(key, revision);
    this.#learn(key, object);
  }
}
