import { StoreError } from '../store.ts';
import { Cache } from './cache.ts';
import type { Connection } from './connection.ts';
import { ALL, type Keys } from './keys.ts';
import type { EtcdLogger } from './options.ts';
import { pause } from './pause.ts';
import { readRange } from './read.ts';
import { setBack } from './set-back.ts';
import { openStream, type StreamEnd, type WatchStream } from './stream.ts';
import { number, type WatchResponse } from './wire.ts';

/** How often etcd is asked for progress while somebody waits for it. */
const PROGRESS_MS = 20;
const MAX_BACKOFF_MS = 1000;

export interface FeedParts {
  connection: Connection;
  keys: Keys;
  logger: EtcdLogger | undefined;
  /** History up to this revision is gone from etcd. */
  onCompacted: (revision: number) => void;
  /** etcd has another history: the feed is to be restarted. */
  onSetBack: (reason: string) => Promise<void>;
}

/**
 * Keeps a cache up to date. A lost stream is resumed after the last revision that was seen: nothing is missed and
 * nothing comes twice. When etcd no longer has that history, or has another one, watches end with `compacted` and all
 * is loaded anew.
 */
export class Feed {
  readonly #parts: FeedParts;
  #cache: Cache;
  #stream: WatchStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Set while the cache is loaded anew. */
  #loading: Promise<void> | undefined;

  private constructor(parts: FeedParts, cache: Cache) {
    this.#parts = parts;
    this.#cache = cache;
  }

  /** Loads everything, then follows until the connection closes. */
  static async start(parts: FeedParts): Promise<Feed> {
    const feed = new Feed(parts, await load(parts));
    void feed.#follow();
    return feed;
  }

  /** The cache, after it was loaded anew if that is under way. */
  async ready(): Promise<Cache> {
    await this.#loading;
    return this.#cache;
  }

  /** Not the same one for ever: see Cache.ended. */
  get cache(): Cache {
    return this.#cache;
  }

  /** Waits until the cache has everything up to `revision`; undefined when that takes too long. */
  async reach(revision: number, timeoutMs: number, ask: boolean): Promise<Cache | undefined> {
    const cache = this.#cache;
    if (cache.versions.revision >= revision && !cache.ended) return cache;
    if (cache.ended) return undefined;
    if (ask) this.#stream?.progress();
    this.#askWhileWaiting();
    return (await cache.reach(revision, timeoutMs)) ? cache : undefined;
  }

  /** The cache shows what etcd does not have (it was restored from a backup): starts over. */
  async restart(reason: string): Promise<void> {
    // Everybody who reads meanwhile finds it out.
    if (this.#loading === undefined)
      this.#parts.logger?.warn({ revision: this.#cache.versions.revision, reason }, 'etcd cache starts over');
    this.#loading ??= this.#reload(reason).finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
    this.#stream?.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stream?.stop();
    this.#cache.end();
  }

  async #follow(): Promise<void> {
    const { connection, logger } = this.#parts;
    for (let backoff = 10; !connection.signal.aborted; ) {
      const before = this.#cache.versions.revision;
      const end = await this.#once();
      if (connection.signal.aborted) return;
      if (end.why === 'compacted') {
        this.#parts.onCompacted(end.revision);
        await this.restart(`history up to ${end.revision} was compacted`);
      } else if (end.why === 'lost') {
        logger?.info({ err: end.error, revision: this.#cache.versions.revision }, 'etcd watch is resumed');
        if (this.#cache.versions.revision > before) backoff = 10;
        await pause(backoff * (0.5 + Math.random()), connection.signal);
        backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
      }
    }
  }

  async #once(): Promise<StreamEnd> {
    const { connection, keys } = this.#parts;
    const cache = await this.ready();
    const startRevision = cache.versions.revision + 1;
    const create = { ...keys.range(ALL), startRevision, progressNotify: true };
    try {
      const other = await setBack(connection, keys, cache);
      // Who reads finds it out too.
      if (cache.ended) return { why: 'stopped' };
      if (other !== undefined) {
        await this.#parts.onSetBack(other);
        return { why: 'stopped' };
      }
      const stream = await openStream(connection, create, (response) => receive(cache, response));
      this.#stream = stream;
      if (cache.ended) stream.stop();
      if (cache.waiting) this.#askWhileWaiting();
      return await stream.ended;
    } catch (error) {
      return { why: 'lost', error: error instanceof Error ? error : new Error(String(error)) };
    } finally {
      this.#stream = undefined;
    }
  }

  async #reload(reason: string): Promise<void> {
    const old = this.#cache;
    old.end(new StoreError('compacted', `etcd: ${reason}`));
    for (let backoff = 100; !this.#parts.connection.signal.aborted; ) {
      try {
        this.#cache = await load(this.#parts);
        return;
      } catch (error) {
        this.#parts.logger?.warn({ err: error }, 'etcd cache cannot be loaded yet');
        await pause(backoff, this.#parts.connection.signal);
        backoff = Math.min(backoff * 2, MAX_BACKOFF_MS);
      }
    }
  }

  #askWhileWaiting(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => {
      if (this.#cache.waiting) return this.#stream?.progress();
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, PROGRESS_MS);
  }
}

function receive(cache: Cache, response: WatchResponse): void {
  if (cache.ended || response.created) return;
  if (response.events.length > 0) cache.feed(response.events);
  else cache.advance(number(response.header.revision));
}

/** A compaction amid the pages leaves no way to finish them: begin again. */
async function load({ connection, keys }: FeedParts): Promise<Cache> {
  for (let attempt = 0; ; attempt++) {
    try {
      const { entries, revision } = await readRange(connection, keys, ALL);
      return new Cache(keys, entries, revision);
    } catch (error) {
      if (attempt >= 5 || !(error instanceof StoreError && error.code === 'compacted')) throw error;
    }
  }
}
