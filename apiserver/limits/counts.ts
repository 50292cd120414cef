import { sleep, systemClock } from '../../kube/clock.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import { type Amounts, add, isNothing, nothing } from './decide.ts';
import { amountsOf, clusterOf, everything } from './keys.ts';
import type { Tree } from './tree.ts';

const pageSize = 1000;
const againMs = 200;
const zero: Readonly<Amounts> = nothing();

/**
 * What is stored in each logical cluster and all below it, as of a revision. Nothing is counted before somebody asks;
 * then all is read once, and every commit tells what it changed, whichever server made it.
 */
export class Counts {
  readonly #store: Store;
  readonly #tree: Tree;
  readonly #signal: AbortSignal;
  #totals = new Map<string, Amounts>();
  #counting: Promise<void> | undefined;
  #counted = false;
  /** Whatever is visible is counted, too. */
  #synced = false;
  #waiting: (() => void)[] = [];
  /** Up to which what was committed is counted. */
  revision = 0;
  /** Told when it is counted up to another revision. */
  onCounted: (() => void) | undefined;

  constructor(store: Store, tree: Tree, signal: AbortSignal) {
    this.#store = store;
    this.#tree = tree;
    this.#signal = signal;
    tree.onMove = (id, parent, sign) => {
      const total = this.#totals.get(id);
      if (total) this.#count(parent, total, sign);
    };
  }

  /** Undefined where all is counted. Rejects when the store cannot be read. */
  ready(): Promise<void> | undefined {
    if (this.#counted)
      return this.#synced ? undefined : new Promise((resolve) => this.#waiting.push(resolve));
    this.#counting ??= this.#load().catch((error: unknown) => {
      this.#counting = undefined;
      throw error;
    });
    return this.#counting;
  }

  /** Nobody may change the answer. */
  of(id: string): Readonly<Amounts> {
    return this.#totals.get(id) ?? zero;
  }

  async #load(): Promise<void> {
    this.#totals = new Map();
    const { revision } = this.#store;
    for (let after: string | undefined; ; ) {
      const page = await this.#store.list(everything, {
        limit: pageSize,
        revision,
        ...(after !== undefined && { after }),
      });
      for (const { key, value } of page.entries) this.#count(clusterOf(key), amountsOf(key, value), 1);
      after = page.entries.at(-1)?.key;
      if (!page.more || after === undefined) break;
    }
    this.revision = revision;
    await this.#store.watch(everything, {
      after: revision,
      sink: (events) => this.#hear(events),
      onEnd: () => void this.#again(),
      onSynced: (synced) => this.#hearSynced(synced),
    });
    this.#counted = true;
  }

  #hearSynced(synced: boolean): void {
    this.#synced = synced;
    if (!synced) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  /** The watch was too slow, or the store was away: all is counted anew, unless it was closed. */
  async #again(): Promise<void> {
    this.#counted = false;
    this.#synced = false;
    this.#counting = undefined;
    while (!this.#signal.aborted) {
      try {
        await this.ready();
        return this.onCounted?.();
      } catch {
        await sleep(againMs, this.#signal, systemClock);
      }
    }
  }

  #hear(events: readonly StoreEvent[]): void {
    for (const { type, entry, previous } of events) {
      this.revision = entry.revision;
      const cluster = clusterOf(entry.key);
      if (cluster === '') continue;
      if (type === 'delete') this.#count(cluster, amountsOf(entry.key, entry.value), -1);
      else {
        if (previous) this.#count(cluster, amountsOf(entry.key, previous.value), -1);
        this.#count(cluster, amountsOf(entry.key, entry.value), 1);
      }
    }
    this.onCounted?.();
  }

  #count(cluster: string, amounts: Readonly<Amounts>, sign: 1 | -1): void {
    if (cluster === '') return;
    for (let id: string | undefined = cluster; id !== undefined; id = this.#tree.parentOf(id)) {
      let total = this.#totals.get(id);
      if (total === undefined) {
        total = nothing();
        this.#totals.set(id, total);
      }
      add(total, amounts, sign);
      if (isNothing(total)) this.#totals.delete(id);
    }
  }
}
