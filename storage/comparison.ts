import { setImmediate as nextTurn } from 'node:timers/promises';
import { isOnDisk } from './residency.ts';
import { type CheckReport, type Entry, prefixRange, StoreError } from './store.ts';
import type { Versions } from './versions.ts';
import type { WatchHub } from './watch-hub.ts';

const ALL = { start: '', end: '\x7f' };
const CHUNK = 1000;

/** Of the first two folders of a key: `/apps/deployments/`. */
function kindOf(key: string): string {
  return key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1) || key;
}

/**
 * Memory against what is stored, as of one revision. Keys that change meanwhile are left out: their turn comes with
 * the next comparison. `see` is told each stored entry once, in any order; then `finish` knows what is wrong.
 */
export class Comparison {
  readonly revision: number;
  readonly #versions: Versions;
  readonly #hub: WatchHub;
  readonly #changed = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #spared = new Set<number>();
  readonly #wrong = new Map<string, Entry | undefined>();
  readonly #kinds = new Map<string, { entries: number; mismatches: number }>();
  #synced = false;
  #stop: () => void = () => {};

  constructor(versions: Versions, hub: WatchHub) {
    this.#versions = versions;
    this.#hub = hub;
    this.revision = versions.revision;
  }

  /** Begins to listen for changes, in this very turn of the event loop. */
  async start(): Promise<void> {
    this.#stop = await this.#hub.watch(ALL, {
      after: this.revision,
      sink: (events) => {
        for (const { entry } of events) this.#changed.add(entry.key);
      },
      onSynced: (synced) => {
        this.#synced = synced;
      },
    });
  }

  stop(): void {
    this.#stop();
  }

  /** What memory has of a key; says nothing about its use. */
  remembered(key: string): Entry | undefined {
    return this.#versions.peek(key);
  }

  see(stored: Entry): void {
    const there = this.remembered(stored.key);
    if (there !== undefined) this.#seen.add(there.key);
    if (there === undefined || !same(there, stored)) this.#wrong.set(stored.key, stored);
  }

  /** What is stored of this revision cannot be read: memory is believed. */
  spare(revision: number): void {
    this.#spared.add(revision);
  }

  /** The store has no such key. */
  miss(key: string): void {
    if (this.remembered(key) !== undefined) this.#wrong.set(key, undefined);
  }

  /** What is wrong: what the store has of each of these keys. Also keys that only memory has. */
  async finish(): Promise<ReadonlyMap<string, Entry | undefined>> {
    let after: string | undefined;
    for (let more = true; more; await nextTurn()) {
      const at = { revision: this.#versions.revision, limit: CHUNK, ...(after !== undefined && { after }) };
      const page = this.#versions.page(ALL, at);
      for (const { key } of page.entries) {
        this.#kind(key).entries++;
        if (!this.#seen.has(key) && !this.#wrong.has(key)) this.#wrong.set(key, undefined);
      }
      after = page.entries[page.entries.length - 1]?.key;
      more = page.more;
    }
    while (!this.#synced) await nextTurn();
    for (const key of [...this.#wrong.keys()]) if (!this.#certain(key)) this.#wrong.delete(key);
    for (const key of this.#wrong.keys()) this.#kind(key).mismatches++;
    return this.#wrong;
  }

  /** Puts right what is wrong. Who watches such a kind may have seen it, and has to list again. */
  mend(): void {
    const kinds = new Set<string>();
    for (const [key, stored] of this.#wrong) {
      this.#versions.mend(key, stored);
      kinds.add(kindOf(key));
    }
    for (const kind of kinds) {
      this.#hub.drop(
        prefixRange(kind),
        new StoreError('compacted', `${kind} was wrong in memory; list again`),
      );
    }
  }

  report(damaged = 0): CheckReport {
    const kinds = [...this.#kinds].map(([kind, counts]) => ({ kind, ...counts }));
    return { revision: this.revision, kinds, damaged };
  }

  #certain(key: string): boolean {
    const revision = this.remembered(key)?.revision ?? 0;
    return !this.#changed.has(key) && revision <= this.revision && !this.#spared.has(revision);
  }

  #kind(key: string): { entries: number; mismatches: number } {
    const kind = kindOf(key);
    const found = this.#kinds.get(kind);
    if (found !== undefined) return found;
    const counts = { entries: 0, mismatches: 0 };
    this.#kinds.set(kind, counts);
    return counts;
  }
}

function same(there: Entry, stored: Entry): boolean {
  if (there.revision !== stored.revision || there.created !== stored.created) return false;
  return isOnDisk(there) || Buffer.compare(there.value, stored.value) === 0;
}
