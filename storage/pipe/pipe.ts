import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkWrite } from '../check-write.ts';
import {
  type CheckReport,
  type Entry,
  type Lease,
  type ListOptions,
  type ListResult,
  type Range,
  type Store,
  StoreError,
  type WatchOptions,
  type WriteOptions,
} from '../store.ts';
import { Delivery } from './deliver.ts';
import { Link } from './link.ts';
import { Mirrors } from './mirror.ts';
import { Ask } from './ops.ts';
import type { Out } from './out.ts';
import { Has } from './questions.ts';
import { Seen } from './seen.ts';
import { Watcher } from './watcher.ts';

/** A watch that is behind gets no more time than this when the store is closed. */
const CLOSING_MS = 1000;

/**
 * A store that is somebody else's, over `channel` (binary, both ways), whose other end `serveStore` has. Resolves
 * after the other side said its revision. When the channel ends, every operation and watch ends with `unavailable`;
 * what became of a write is then unknown. `close` lets go of the channel, not of the store behind it. Of keys that it
 * `keeps`, by default of none, `seen` knows what came last.
 */
export async function openPipe(
  channel: Duplex,
  { keeps = () => false }: { keeps?: (key: string) => boolean } = {},
): Promise<Store> {
  const delivery = new Delivery();
  const link = new Link(channel, delivery.deliver, new Seen(keeps));
  link.start();
  await link.ready;
  return new PipeStore(link, delivery);
}

class PipeStore implements Store {
  readonly #link: Link;
  readonly #delivery: Delivery;
  readonly #mirrors: Mirrors;
  readonly #watchers = new Set<Watcher>();
  #closing: Promise<void> | undefined;

  constructor(link: Link, delivery: Delivery) {
    this.#link = link;
    this.#delivery = delivery;
    this.#mirrors = new Mirrors(link, (range, options) => this.list(range, options));
    // Those whose sink asked for a pause have no watch at the other side that could end.
    link.onOver = (reason) => {
      for (const watcher of [...this.#watchers]) watcher.ended(reason);
    };
  }

  get revision(): number {
    return this.#link.revision;
  }

  get compacted(): number {
    return this.#link.compacted;
  }

  async get(key: string, options?: { revision?: number }): Promise<Entry | undefined> {
    const { seen } = this.#link;
    const found = await this.#ask<Entry | undefined>(Ask.get, (out) => {
      out.string(key);
      out.f64(options?.revision ?? Number.NaN);
    });
    if (options?.revision === undefined) {
      if (found) seen.note(found);
      else seen.forget(key);
    }
    return found;
  }

  async list(range: Range, options: ListOptions = {}): Promise<ListResult> {
    const { revision, limit, after } = options;
    return this.#ask(Ask.list, (out) => {
      out.string(range.start);
      out.string(range.end);
      out.f64(revision ?? Number.NaN);
      out.f64(limit ?? Number.NaN);
      out.u8(after === undefined ? 0 : 1);
      if (after !== undefined) out.string(after);
    });
  }

  recent(range: Range): readonly Entry[] | undefined {
    const open = this.#closing === undefined && this.#link.failure === undefined;
    return open ? this.#mirrors.recent(range) : undefined;
  }

  seen(key: string): Entry | undefined {
    return this.#closing === undefined ? this.#link.seen.get(key) : undefined;
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions): Promise<Entry> {
    checkWrite(key, value);
    const body = (out: Out): void => {
      writeOptions(out, options);
      out.string(key);
      out.value(value);
    };
    return this.#written(key, this.#ask(Ask.create, body, key, value));
  }

  async update(key: string, value: Uint8Array, expected: number, options?: WriteOptions): Promise<Entry> {
    checkWrite(key, value);
    const body = (out: Out): void => {
      writeOptions(out, options);
      out.string(key);
      out.f64(expected);
      out.value(value);
    };
    return this.#written(key, this.#ask(Ask.update, body, key, value));
  }

  async delete(key: string, expected: number, options?: WriteOptions): Promise<Entry> {
    const asked = this.#ask<Entry>(Ask.delete, (out) => {
      writeOptions(out, options);
      out.string(key);
      out.f64(expected);
    });
    // Whether it was done or not, it is not as it was seen.
    return asked.finally(() => this.#link.seen.forget(key));
  }

  async #written(key: string, asked: Promise<Entry>): Promise<Entry> {
    const { seen } = this.#link;
    try {
      const entry = await asked;
      if (this.#link.failure === undefined) seen.note(entry);
      return entry;
    } catch (error) {
      seen.forget(key);
      throw error;
    }
  }

  async watch(range: Range, options: WatchOptions): Promise<() => void> {
    this.#mustBeOpen();
    const watcher = new Watcher(this.#link, range, options, (over) => {
      this.#watchers.delete(over);
      this.#delivery.forget(over);
    });
    if (options.signal?.aborted) return watcher.stop;
    this.#watchers.add(watcher);
    await watcher.begin();
    return watcher.stop;
  }

  async compact(revision: number): Promise<void> {
    return this.#ask(Ask.compact, (out) => out.f64(revision));
  }

  async acquire(name: string, ttlMs: number): Promise<Lease | undefined> {
    const lease = await this.#ask<{ held: number; token: number } | undefined>(Ask.acquire, (out) => {
      out.string(name);
      out.f64(ttlMs);
    });
    if (lease === undefined) return undefined;
    const { held, token } = lease;
    return {
      name,
      token,
      keepAlive: async () => this.#ask<boolean>(Ask.keepAlive, (out) => out.u32(held)),
      release: async () => {
        try {
          await this.#ask(Ask.release, (out) => out.u32(held));
        } catch {
          // It ends by itself.
        }
      },
    };
  }

  async check(): Promise<CheckReport> {
    return this.#ask(Ask.check, () => {});
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#mirrors.stop();
    await this.#link.idle();
    await this.#settled();
    await this.#link.end(new StoreError('closed', 'the store was closed'));
  }

  /** What was answered was also watched, unless somebody is behind. */
  async #settled(): Promise<void> {
    const deadline = performance.now() + CLOSING_MS;
    while ([...this.#watchers].some((watcher) => !watcher.idle)) {
      if (performance.now() >= deadline || this.#link.failure !== undefined) return;
      await sleep(1);
    }
  }

  #ask<T>(op: number, body: (out: Out) => void, key?: string, value?: Uint8Array): Promise<T> {
    this.#mustBeOpen();
    return this.#link.ask<T>(op, body, key, value);
  }

  #mustBeOpen(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'the store is closed');
    if (this.#link.failure !== undefined) throw this.#link.failure;
  }
}

function writeOptions(out: Out, { holding, adds }: WriteOptions = {}): void {
  out.u8((holding === undefined ? 0 : Has.holding) | (adds === undefined ? 0 : Has.adds));
  if (holding !== undefined) {
    out.string(holding.name);
    out.f64(holding.token);
  }
  if (adds !== undefined) out.f64(adds);
}
