import type { Entry, Range, Store, WriteOptions } from '../../storage/store.ts';
import type { Showing, Versions } from './versions.ts';
import { watchConverted } from './watch.ts';

/**
 * The store as it would be if the objects of a range were kept in another version: they are converted as they are read and written,
 * as kube-apiserver's store does it. For one request.
 */
export function convertingStore(store: Store, range: Range, versions: Versions, showing: Showing): Store {
  const within = (key: string) => key >= range.start && key < range.end;
  const seen = new Seen(versions, showing);
  return {
    get revision() {
      return store.revision;
    },
    get compacted() {
      return store.compacted;
    },
    async get(key, options) {
      const entry = await store.get(key, options);
      return entry && within(key) ? seen.shown(entry) : entry;
    },
    async list(asked, options) {
      const result = await store.list(asked, options);
      if (!within(asked.start)) return result;
      return { ...result, entries: await versions.shown(result.entries, showing) };
    },
    // What it takes a webhook to know is not known at once.
    recent: (asked) => (within(asked.start) ? undefined : store.recent?.(asked)),
    async create(key, value, options) {
      if (!within(key)) return store.create(key, value, options);
      const bytes = await versions.stored(value, showing.signal);
      return seen.written(await store.create(key, bytes, adding(options, bytes.length)));
    },
    async update(key, value, expected, options) {
      if (!within(key)) return store.update(key, value, expected, options);
      const bytes = await versions.stored(value, showing.signal);
      const adds = bytes.length - seen.lengthOf(key, bytes.length);
      return seen.written(await store.update(key, bytes, expected, adding(options, adds)));
    },
    async delete(key, expected, options) {
      const entry = await store.delete(key, expected, options);
      return within(key) ? seen.gone(entry) : entry;
    },
    watch: (asked, options) =>
      within(asked.start) ? watchConverted(store, asked, options, versions) : store.watch(asked, options),
    compact: (revision) => store.compact(revision),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    check: () => store.check(),
    close: () => store.close(),
  };
}

/** What is bounded is what is stored. */
function adding(options: WriteOptions | undefined, adds: number): WriteOptions | undefined {
  return options?.adds === undefined ? options : { ...options, adds };
}

/** Of which a request knows what it has read: those that it deletes come one by one. */
const mostSeen = 8;

/**
 * What this request has read one by one, so that what it deletes need not be converted once it has gone. It is not counted: so
 * much is made of any request that is about one object, and a read of one is answered however much others have kept.
 */
class Seen {
  readonly #versions: Versions;
  readonly #showing: Omit<Showing, 'keeping'>;
  readonly #seen = new Map<string, { stored: Uint8Array; shown: Uint8Array }>();

  constructor(versions: Versions, { keeping: _, ...showing }: Showing) {
    this.#versions = versions;
    this.#showing = showing;
  }

  shown(entry: Entry): Promise<Entry> {
    return this.#shown(entry, this.#showing);
  }

  /** It was written: what is to follow is not left out because somebody went. */
  written(entry: Entry): Promise<Entry> {
    const { signal: _, ...showing } = this.#showing;
    return this.#shown(entry, showing);
  }

  async #shown(entry: Entry, showing: Showing): Promise<Entry> {
    const [shown = entry] = await this.#versions.shown([entry], showing);
    this.#seen.delete(entry.key);
    this.#seen.set(entry.key, { stored: entry.value, shown: shown.value });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > mostSeen && oldest !== undefined) this.#seen.delete(oldest);
    return shown;
  }

  lengthOf(key: string, otherwise: number): number {
    return this.#seen.get(key)?.stored.length ?? otherwise;
  }

  /** Deleted as it was read: a delete names the revision. */
  gone(entry: Entry): Entry {
    const seen = this.#seen.get(entry.key);
    return seen === undefined ? entry : { ...entry, value: seen.shown };
  }
}
