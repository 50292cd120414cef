import { Aging } from '../aging.ts';
import { DEFAULT_RETENTION, Retention } from '../retention.ts';
import type { Entry, StoreError, StoreEvent } from '../store.ts';
import { Versions } from '../versions.ts';
import { WatchHub } from '../watch-hub.ts';
import type { Keys } from './keys.ts';
import { number, type WatchEvent } from './wire.ts';

interface Waiter {
  readonly revision: number;
  readonly done: (reached: boolean) => void;
}

/**
 * Every current entry, and the history since it was loaded or as much of it as the retention allows. Fed by one
 * watch in the order of revisions; every resource is a range of it. Ends when the watch has lost its thread.
 */
export class Cache {
  readonly versions: Versions;
  readonly hub: WatchHub;
  readonly #keys: Keys;
  readonly #retention = new Retention(DEFAULT_RETENTION);
  readonly #aging: Aging = new Aging(
    DEFAULT_RETENTION.ageMs,
    () => this.versions.revision > this.versions.compacted,
    () => this.#forget(),
  );
  #waiters: Waiter[] = [];
  #ended = false;
  #newest: Entry | undefined;

  constructor(keys: Keys, entries: readonly Entry[], revision: number) {
    this.#keys = keys;
    this.versions = new Versions(revision, { contiguous: false });
    this.hub = new WatchHub(this.versions);
    for (const entry of entries) {
      this.versions.seed(entry);
      this.#note(entry);
    }
  }

  /** What was put last, and may be gone since. */
  get newest(): Entry | undefined {
    return this.#newest;
  }

  get waiting(): boolean {
    return this.#waiters.length > 0;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Visible first, then watched, then whoever waits for it goes on. What is known already is left out. */
  feed(events: readonly WatchEvent[]): void {
    const known = this.versions.revision;
    const fresh: StoreEvent[] = [];
    for (const event of events) {
      if (number(event.kv.modRevision) <= known) continue;
      const applied = this.#event(event);
      if (applied === undefined) continue;
      this.versions.apply(applied);
      if (applied.type === 'put') this.#note(applied.entry);
      fresh.push(applied);
    }
    this.hub.publish(fresh);
    this.#moved();
  }

  /** Everything up to `revision` was fed. */
  advance(revision: number): void {
    if (revision <= this.versions.revision) return;
    this.versions.advance(revision);
    this.#moved();
  }

  /** Waits until everything up to `revision` is visible here; false when that did not happen in time. */
  async reach(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#ended) return false;
    if (this.versions.revision >= revision) return true;
    return new Promise((resolve) => {
      const done = (reached: boolean): void => {
        clearTimeout(timer);
        resolve(reached);
      };
      const waiter = { revision, done };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve(false);
      }, timeoutMs);
      this.#insert(waiter);
    });
  }

  /** The watches end with `reason`; nothing is fed any more. */
  end(reason?: StoreError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#aging.end();
    this.hub.close(reason);
    for (const waiter of this.#waiters.splice(0)) waiter.done(false);
  }

  #note(entry: Entry): void {
    if (this.#newest === undefined || entry.revision >= this.#newest.revision) this.#newest = entry;
  }

  #event({ type, kv }: WatchEvent): StoreEvent | undefined {
    const previous = this.versions.get(this.#keys.name(kv));
    if (type === 0) {
      const entry = this.#keys.entry(kv);
      return { type: 'put', entry, ...(previous !== undefined && { previous }) };
    }
    if (previous === undefined) return undefined;
    return { type: 'delete', entry: { ...previous, revision: number(kv.modRevision) }, previous };
  }

  #moved(): void {
    const { revision } = this.versions;
    let count = 0;
    while (count < this.#waiters.length && (this.#waiters[count]?.revision ?? 0) <= revision) count++;
    for (const waiter of this.#waiters.splice(0, count)) waiter.done(true);
    this.#forget();
    this.#aging.wake();
  }

  #forget(): boolean {
    const due = this.#retention.due(performance.now(), this.versions);
    if (due !== undefined) this.versions.compact(due);
    return due !== undefined;
  }

  /** Sorted by revision; nearly always the new one is the last. */
  #insert(waiter: Waiter): void {
    let at = this.#waiters.length;
    while (at > 0 && (this.#waiters[at - 1]?.revision ?? 0) > waiter.revision) at--;
    this.#waiters.splice(at, 0, waiter);
  }
}
