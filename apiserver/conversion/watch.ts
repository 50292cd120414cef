import type { Range, Store, StoreError, StoreEvent, WatchOptions } from '../../storage/store.ts';
import { Left } from './forms.ts';
import { partsOf } from './parts.ts';
import type { Versions } from './versions.ts';

/** How many events may wait for their conversion before the store keeps them. */
const mostWaiting = 200;

/**
 * Watches a range, its objects converted. Their order stays; what comes while others are converted is converted together. What
 * cannot be converted ends the watch with the reason, after what came before it.
 */
export async function watchConverted(
  store: Store,
  range: Range,
  options: WatchOptions,
  versions: Versions,
): Promise<() => void> {
  const converting = new Converting(options, versions);
  const stop = await store.watch(range, {
    ...options,
    sink: (events) => converting.add(events),
    onEnd: (reason) => converting.end(reason),
    onSynced: (synced) => converting.synced(synced),
    pause: () => converting.pause(),
  });
  return converting.begun(stop);
}

class Converting {
  readonly #options: WatchOptions;
  readonly #versions: Versions;
  #waiting: StoreEvent[] = [];
  #isAtWork = false;
  #isSynced = false;
  #ended: StoreError | undefined;
  #isOver = false;
  #stop: (() => void) | undefined;
  #room: { promise: Promise<void>; resolve: () => void } | undefined;
  /** Of what is being converted: whoever goes does not wait for it, and nothing holds on to the watch's own signal. */
  #asking = new AbortController();

  readonly #left = (): void => {
    this.#makeRoom();
    this.#asking.abort(new Left('nobody watches any more'));
  };

  constructor(options: WatchOptions, versions: Versions) {
    this.#options = options;
    this.#versions = versions;
    options.signal?.addEventListener('abort', this.#left, { once: true });
  }

  begun(stop: () => void): () => void {
    if (this.#isOver) stop();
    this.#stop = stop;
    return () => {
      this.#isOver = true;
      this.#options.signal?.removeEventListener('abort', this.#left);
      this.#left();
      stop();
    };
  }

  add(events: readonly StoreEvent[]): void {
    if (this.#isOver) return;
    this.#waiting.push(...events);
    if (!this.#isAtWork) void this.#work();
  }

  /** Told as soon as all is given on that came before. */
  synced(synced: boolean): void {
    this.#isSynced = synced;
    if (!this.#isAtWork && !this.#isOver) this.#options.onSynced?.(synced);
  }

  end(reason: StoreError): void {
    this.#ended = reason;
    if (!this.#isAtWork) this.#finish(reason);
  }

  pause(): Promise<void> | undefined {
    if (this.#isOver || this.#waiting.length < mostWaiting) return this.#options.pause?.();
    if (this.#room === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    this.#options.onSynced?.(false);
    while (this.#waiting.length > 0 && !this.#isStopped()) {
      // One review's worth, to be given on before the next is made.
      const [events = []] = partsOf(this.#waiting, ({ entry }) => entry.value.length);
      this.#waiting = this.#waiting.slice(events.length);
      if (this.#waiting.length < mostWaiting) this.#makeRoom();
      this.#asking = new AbortController();
      try {
        const shown = await this.#shown(events);
        if (!this.#isStopped()) this.#options.sink(shown);
      } catch (error) {
        // The registry knows a StatusError from a StoreError.
        this.#finish(error as StoreError);
        this.#stop?.();
        return;
      }
    }
    this.#isAtWork = false;
    if (this.#isStopped()) return;
    if (this.#ended) this.#finish(this.#ended);
    else this.#options.onSynced?.(this.#isSynced);
  }

  #isStopped(): boolean {
    return this.#isOver || this.#options.signal?.aborted === true;
  }

  #finish(reason: StoreError): void {
    const wasStopped = this.#isStopped();
    this.#isOver = true;
    this.#options.signal?.removeEventListener('abort', this.#left);
    this.#waiting = [];
    this.#makeRoom();
    if (!wasStopped) this.#options.onEnd?.(reason);
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  async #shown(events: readonly StoreEvent[]): Promise<StoreEvent[]> {
    const live = events.flatMap(({ type, entry, previous }) => [
      ...(type === 'put' ? [entry] : []),
      ...(previous ? [previous] : []),
    ]);
    const gone = events.flatMap(({ type, entry }) => (type === 'delete' ? [entry] : []));
    const { signal } = this.#asking;
    const made = await Promise.all([
      this.#versions.shared(live, { signal }),
      this.#versions.shared(gone, { old: true, signal }),
    ]);
    const all = made.flat();
    const shown = new Map([...live, ...gone].map((entry, index) => [entry, all[index] ?? entry]));
    return events.map(({ type, entry, previous }) => ({
      type,
      entry: shown.get(entry) ?? entry,
      ...(previous && { previous: shown.get(previous) ?? previous }),
    }));
  }
}
