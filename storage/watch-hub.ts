import type { Watchers } from './measures.ts';
import { type Range, StoreError, type StoreEvent, type WatchOptions } from './store.ts';
import type { Versions } from './versions.ts';
import { type Group, WatchIndex } from './watch-index.ts';
import type { Watcher } from './watcher.ts';

/** How long watchers are served before everything else gets its turn. */
const SLICE_MS = 4;
/** So many watchers are served between two looks at the clock. */
const CLOCK_EVERY = 64;

/** One commit's delivery. */
interface Turn {
  readonly deadline: number;
  served: number;
  late: boolean;
}

/**
 * Delivers committed events to the watchers that match them, each commit once and in order. Three populations:
 *
 * - live: each commit goes to those of them that match it, at once;
 * - behind: they read history in turns of a few milliseconds, one chunk each, until they have seen it all;
 * - blocked: their sink asked for a pause. They cost nothing, and are behind once it is over; when what they need
 *   was compacted by then, they end with `compacted`.
 *
 * A watcher becomes live in the same go of the event loop in which it read the newest event, so nothing falls
 * between; `seen` drops what a commit that is still being delivered repeats.
 */
export class WatchHub {
  readonly #versions: Versions;
  readonly #index = new WatchIndex<Watcher>();
  readonly #watchers = new Set<Watcher>();
  readonly #behind = new Set<Watcher>();
  readonly #commits: (readonly StoreEvent[])[] = [];
  #delivering = false;
  #turn: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(versions: Versions) {
    this.#versions = versions;
  }

  /** See Store.watch. */
  async watch(range: Range, options: WatchOptions): Promise<() => void> {
    if (this.#closed) throw new StoreError('closed', 'the store is closed');
    this.#versions.check(options.after);
    const watcher = this.#join(range, options);
    if (watcher.ended) return watcher.stop;
    if (!this.#advance(watcher, performance.now() + SLICE_MS)) {
      await new Promise<void>((resolve, reject) => {
        watcher.settle = (failure) => (failure === undefined ? resolve() : reject(failure));
      });
    }
    // After every promise that waits on this one has run: then the caller has its stop function.
    queueMicrotask(() => process.nextTick(() => this.#catchUp(watcher)));
    return watcher.stop;
  }

  /** Delivers one commit: events that are visible in `versions` by now, in order. */
  publish(events: readonly StoreEvent[]): void {
    if (this.#watchers.size === 0 || events.length === 0) return;
    this.#commits.push(events);
    // A sink may write: its commit waits here until everybody got this one.
    if (this.#delivering) return;
    this.#delivering = true;
    for (let commit = this.#commits.shift(); commit !== undefined; commit = this.#commits.shift()) {
      this.#deliver(commit);
    }
    this.#delivering = false;
  }

  /** Ends the watches that may see a key of the range. */
  drop(range: Range, reason: StoreError): void {
    for (const watcher of [...this.#watchers]) {
      if (watcher.range.start < range.end && range.start < watcher.range.end) this.#end(watcher, reason);
    }
  }

  get watchers(): Watchers {
    let live = 0;
    for (const watcher of this.#watchers) if (watcher.live) live++;
    return { live, behind: this.#watchers.size - live };
  }

  /** Ends every watch with `reason`, after what was committed. Later watches are refused. */
  close(reason = new StoreError('closed', 'the store was closed')): void {
    this.#closed = true;
    for (const watcher of [...this.#watchers]) {
      if (!watcher.live) this.#advance(watcher, Infinity);
      this.#end(watcher, reason);
    }
    if (this.#turn !== undefined) clearImmediate(this.#turn);
  }

  #join(range: Range, options: WatchOptions): Watcher {
    const stop = (): void => this.#leave(watcher);
    const watcher: Watcher = {
      range,
      options,
      stop,
      seen: options.after,
      live: false,
      ended: false,
      settle: undefined,
    };
    if (options.signal?.aborted) {
      watcher.ended = true;
      return watcher;
    }
    this.#watchers.add(watcher);
    this.#index.add(range, watcher);
    options.signal?.addEventListener('abort', stop, { once: true });
    return watcher;
  }

  #leave(watcher: Watcher): void {
    if (watcher.ended) return;
    watcher.ended = true;
    this.#watchers.delete(watcher);
    this.#behind.delete(watcher);
    this.#index.remove(watcher.range, watcher);
    watcher.options.signal?.removeEventListener('abort', watcher.stop);
    watcher.settle?.();
  }

  /** Who still waits for `watch` hears it there; everybody else by onEnd. */
  #end(watcher: Watcher, reason: StoreError): void {
    if (watcher.ended) return;
    const { settle } = watcher;
    watcher.settle = undefined;
    this.#leave(watcher);
    if (settle !== undefined) {
      settle(reason);
      return;
    }
    try {
      watcher.options.onEnd?.(reason);
    } catch {
      // Whoever throws here was already told; the other watchers and the writer must not suffer.
    }
  }

  /** The watcher is live as soon as it has seen all history. */
  #catchUp(watcher: Watcher): void {
    if (watcher.ended || watcher.live || !this.#advance(watcher, performance.now() + SLICE_MS)) return;
    if (watcher.ended) return;
    watcher.live = true;
    watcher.options.onSynced?.(true);
  }

  /** False: the watcher is behind or blocked, and goes on by itself. */
  #advance(watcher: Watcher, deadline: number): boolean {
    while (!watcher.ended) {
      const pause = watcher.options.pause?.();
      if (pause !== undefined && deadline !== Infinity) return this.#block(watcher, pause);
      try {
        this.#versions.check(watcher.seen);
      } catch (error) {
        if (error instanceof StoreError) this.#end(watcher, error);
        return true;
      }
      const { events, until } = this.#versions.next(watcher.seen, watcher.range);
      watcher.seen = until;
      if (events.length > 0) this.#send(watcher, events);
      if (watcher.seen === this.#versions.revision) return true;
      if (performance.now() < deadline) continue;
      this.#fallBehind(watcher);
      return false;
    }
    return true;
  }

  #block(watcher: Watcher, pause: Promise<void>): false {
    this.#behind.delete(watcher);
    this.#lag(watcher);
    const goOn = (): void => {
      if (!watcher.ended) this.#fallBehind(watcher);
    };
    pause.then(goOn, goOn);
    return false;
  }

  #fallBehind(watcher: Watcher): void {
    this.#lag(watcher);
    this.#behind.add(watcher);
    this.#turn ??= setImmediate(() => this.#serve());
  }

  #lag(watcher: Watcher): void {
    if (!watcher.live) return;
    watcher.live = false;
    watcher.options.onSynced?.(false);
  }

  /** One turn: a chunk for each of those who are behind, the longest waiting first, while there is time. */
  #serve(): void {
    this.#turn = undefined;
    const deadline = performance.now() + SLICE_MS;
    for (const watcher of this.#behind) {
      this.#behind.delete(watcher);
      const { settle } = watcher;
      if (settle === undefined) this.#catchUp(watcher);
      else if (this.#advance(watcher, 0) && !watcher.ended) {
        watcher.settle = undefined;
        settle();
      }
      if (performance.now() >= deadline) break;
    }
    if (this.#behind.size > 0) this.#turn ??= setImmediate(() => this.#serve());
  }

  #deliver(commit: readonly StoreEvent[]): void {
    const turn = { deadline: performance.now() + SLICE_MS, served: 0, late: false };
    for (const [group, batch] of this.#index.batches(commit)) this.#deliverGroup(group, batch, turn);
  }

  /** Whoever would get it too late for the others falls behind. */
  #deliverGroup(group: Group<Watcher>, batch: readonly StoreEvent[], turn: Turn): void {
    const first = batch[0]?.entry.revision ?? 0;
    const last = batch[batch.length - 1]?.entry.revision ?? 0;
    for (const watcher of group.watchers) {
      if (!watcher.live || watcher.seen >= last) continue;
      if (++turn.served % CLOCK_EVERY === 0) turn.late ||= performance.now() >= turn.deadline;
      if (turn.late) {
        // It has had all that there was for it before: of that nothing need be there any more.
        watcher.seen = Math.max(watcher.seen, first - 1);
        this.#fallBehind(watcher);
        continue;
      }
      const { seen } = watcher;
      watcher.seen = last;
      this.#send(watcher, seen < first ? batch : batch.filter(({ entry }) => entry.revision > seen));
      const pause = watcher.ended ? undefined : watcher.options.pause?.();
      if (pause !== undefined) this.#block(watcher, pause);
    }
  }

  #send(watcher: Watcher, events: readonly StoreEvent[]): void {
    try {
      watcher.options.sink(events);
    } catch (cause) {
      this.#end(watcher, new StoreError('unavailable', 'the watch sink threw', { cause }));
    }
  }
}
