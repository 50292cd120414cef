import { type Range, StoreError, type StoreEvent, type WatchOptions } from './store.ts';
import type { Versions } from './versions.ts';
import { type Group, WatchIndex } from './watchindex.ts';

/** How many events of history one sink call gets at most: a long history must not become one long array. */
const HISTORY_CHUNK = 1024;

interface Watcher {
  readonly range: Range;
  readonly options: WatchOptions;
  /** Events up to and including this revision were delivered, or are not wanted. */
  seen: number;
  /** False until the caller of `watch` holds its stop function. */
  live: boolean;
  ended: boolean;
  readonly stop: () => void;
}

/**
 * Delivers committed events to the watchers that match them, each commit once and in order.
 *
 * A watch begins with history from `versions` up to a revision, then joins at exactly that revision: both
 * happen in one go of the event loop, so nothing falls between. `seen` drops what a commit that is still being
 * delivered repeats. A watch that joined waits for its caller to resume, then reads what it missed meanwhile.
 */
export class WatchHub {
  readonly #versions: Versions;
  readonly #index = new WatchIndex<Watcher>();
  readonly #watchers = new Set<Watcher>();
  readonly #commits: (readonly StoreEvent[])[] = [];
  #delivering = false;
  #closed = false;

  constructor(versions: Versions) {
    this.#versions = versions;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /** See Store.watch. */
  async watch(range: Range, options: WatchOptions): Promise<() => void> {
    if (this.#closed) throw new StoreError('closed', 'the store is closed');
    this.#versions.check(options.after);
    const watcher = this.#join(range, options);
    if (watcher.ended) return watcher.stop;
    this.#replay(watcher);
    // After every promise that waits on this one has run: then the caller has its stop function.
    queueMicrotask(() => process.nextTick(() => this.#goLive(watcher)));
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

  /** Ends every watch with `reason`, after what was committed. Later watches are refused. */
  close(reason = new StoreError('closed', 'the store was closed')): void {
    this.#closed = true;
    for (const watcher of [...this.#watchers]) {
      if (!watcher.live) this.#goLive(watcher);
      this.#end(watcher, reason);
    }
  }

  #join(range: Range, options: WatchOptions): Watcher {
    const stop = (): void => this.#leave(watcher);
    const watcher: Watcher = { range, options, seen: options.after, live: false, ended: false, stop };
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
    this.#index.remove(watcher.range, watcher);
    watcher.options.signal?.removeEventListener('abort', watcher.stop);
  }

  #end(watcher: Watcher, reason: StoreError): void {
    if (watcher.ended) return;
    this.#leave(watcher);
    try {
      watcher.options.onEnd?.(reason);
    } catch {
      // Whoever throws here was already told; the other watchers and the writer must not suffer.
    }
  }

  /** History up to the newest visible revision. */
  #replay(watcher: Watcher): void {
    const until = this.#versions.revision;
    const events = this.#versions.since(watcher.seen, watcher.range);
    watcher.seen = until;
    for (let i = 0; i < events.length && !watcher.ended; i += HISTORY_CHUNK) {
      this.#send(watcher, events.slice(i, i + HISTORY_CHUNK));
    }
  }

  #goLive(watcher: Watcher): void {
    if (watcher.ended || watcher.live) return;
    try {
      this.#versions.check(watcher.seen);
    } catch (error) {
      if (error instanceof StoreError) this.#end(watcher, error);
      return;
    }
    watcher.live = true;
    this.#replay(watcher);
  }

  #deliver(commit: readonly StoreEvent[]): void {
    const batches = new Map<Group<Watcher>, StoreEvent[]>();
    for (const event of commit) {
      this.#index.match(event.entry.key, (group) => {
        const batch = batches.get(group);
        if (batch === undefined) batches.set(group, [event]);
        else batch.push(event);
      });
    }
    for (const [group, batch] of batches) this.#deliverGroup(group, batch);
  }

  #deliverGroup(group: Group<Watcher>, batch: readonly StoreEvent[]): void {
    const first = batch[0]?.entry.revision ?? 0;
    const last = batch[batch.length - 1]?.entry.revision ?? 0;
    for (const watcher of group.watchers) {
      if (!watcher.live || watcher.seen >= last) continue;
      const { seen } = watcher;
      watcher.seen = last;
      this.#send(watcher, seen < first ? batch : batch.filter(({ entry }) => entry.revision > seen));
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
