import { type Range, StoreError, type StoreEvent, type WatchOptions } from '../store.ts';
import type { Link } from './link.ts';
import type { Listener } from './pushed.ts';

/** Of a watcher that is not handed its events as they come: beyond so many batches it begins again from history. */
const MAX_QUEUE = 256;

/**
 * A watch on this side of the pipe. What comes is handed to the sink at once, except
 *
 * - until the caller of `watch` has its stop function, and while other watchers took too long: then it waits here;
 * - while the sink asked for a pause: then the watch at the other side is stopped, what is on its way is dropped, and
 *   afterwards another one begins after what was handed over.
 */
export class Watcher implements Listener {
  readonly first = false;
  readonly #link: Link;
  readonly #range: Range;
  readonly #options: WatchOptions;
  readonly #onOver: (watcher: Watcher) => void;
  /** At the other side; 0 for none. */
  #id = 0;
  /** Events up to and including this revision were handed over, or are not wanted. */
  #seen: number;
  /** What waits to be handed over: of nobody else, what was said last is not waited for. */
  #queue: (readonly StoreEvent[] | StoreError)[] | undefined;
  /** As the other side says, and as the caller was told. */
  #remote = false;
  #synced = false;
  #over = false;
  #settle: ((failure?: StoreError) => void) | undefined;

  constructor(link: Link, range: Range, options: WatchOptions, onOver: (watcher: Watcher) => void) {
    this.#link = link;
    this.#range = range;
    this.#options = options;
    this.#onOver = onOver;
    this.#seen = options.after;
  }

  /** Resolves when all history was handed over. */
  begin(): Promise<void> {
    this.#options.signal?.addEventListener('abort', this.stop, { once: true });
    return new Promise((resolve, reject) => {
      this.#settle = (failure) => (failure === undefined ? resolve() : reject(failure));
      this.#ask();
    });
  }

  readonly stop = (): void => {
    this.#leave();
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.();
  };

  /** Whether it has all that was told, unless its sink does not want it. */
  get idle(): boolean {
    return this.#over || this.#id === 0 || (this.#queue === undefined && this.#remote);
  }

  /** Whether something waits to be handed over. */
  get late(): boolean {
    return this.#queue !== undefined;
  }

  hears(watch: number): boolean {
    return watch === this.#id;
  }

  events(batch: readonly StoreEvent[]): void {
    if (this.#over) return;
    if (this.#queue === undefined) this.#hand(batch);
    else if (this.#queue.push(batch) > MAX_QUEUE) this.#pause(Promise.resolve());
  }

  synced(yes: boolean): void {
    if (this.#over) return;
    this.#remote = yes;
    if (!yes) this.#tell(false);
    else if (this.#queue === undefined) this.#tell(true);
  }

  watching(): void {
    const settle = this.#settle;
    if (settle === undefined || this.#over) return;
    this.#settle = undefined;
    this.#queue = [];
    settle();
    // After every promise that waits on this one has run: then the caller has its stop function.
    queueMicrotask(() => process.nextTick(() => this.drain(Infinity)));
  }

  ended(reason: StoreError): void {
    if (this.#over) return;
    this.#id = 0;
    if (this.#queue === undefined) this.#end(reason);
    else this.#queue.push(reason);
  }

  /** From now on what comes waits until it is drained. */
  hold(): void {
    if (this.#over || this.#queue !== undefined) return;
    this.#queue = [];
    this.#tell(false);
  }

  /** Hands over what waits, until `deadline`. */
  drain(deadline: number): void {
    while (this.#queue !== undefined && !this.#over) {
      const next = this.#queue.shift();
      if (next === undefined) {
        this.#queue = undefined;
        this.#tell(this.#remote);
      } else if (next instanceof StoreError) this.#end(next);
      else this.#hand(next);
      if (performance.now() >= deadline) return;
    }
  }

  #ask(): void {
    if (this.#over) return;
    const pause = this.#guard(() => this.#options.pause?.());
    if (pause !== undefined) return void this.#wait(pause);
    if (this.#over) return;
    const { failure } = this.#link;
    if (failure !== undefined) return void this.#end(failure);
    this.#id = this.#link.watch(this.#range, this.#seen, this);
  }

  #hand(batch: readonly StoreEvent[]): void {
    if (this.#mustPause()) return;
    this.#guard(() => this.#options.sink(batch));
    this.#seen = batch[batch.length - 1]?.entry.revision ?? this.#seen;
    if (!this.#over) this.#mustPause();
  }

  #mustPause(): boolean {
    const pause = this.#guard(() => this.#options.pause?.());
    if (pause !== undefined) this.#pause(pause);
    return pause !== undefined || this.#over;
  }

  #pause(until: Promise<void>): void {
    // What is quiet is not asked for again from the beginning.
    if (this.#synced) this.#seen = Math.max(this.#seen, this.#link.told);
    this.#link.stop(this.#id);
    this.#id = 0;
    this.#remote = false;
    this.#queue = undefined;
    this.#tell(false);
    this.#wait(until);
  }

  #wait(until: Promise<void>): void {
    const goOn = (): void => this.#ask();
    until.then(goOn, goOn);
  }

  #tell(synced: boolean): void {
    if (synced === this.#synced) return;
    this.#synced = synced;
    this.#guard(() => this.#options.onSynced?.(synced));
  }

  /** Whoever throws ends alone. */
  #guard<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (cause) {
      this.#end(new StoreError('unavailable', 'the watch sink threw', { cause }));
      return undefined;
    }
  }

  /** Who still waits for `watch` hears it there; everybody else by onEnd. */
  #end(reason: StoreError): void {
    if (this.#over) return;
    this.#leave();
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle !== undefined) return void settle(reason);
    try {
      this.#options.onEnd?.(reason);
    } catch {
      // Whoever throws here was already told; the other watchers must not suffer.
    }
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#link.stop(this.#id);
    this.#queue = undefined;
    this.#options.signal?.removeEventListener('abort', this.stop);
    this.#onOver(this);
  }
}
