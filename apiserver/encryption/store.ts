import {
  type Entry,
  type Range,
  type Store,
  StoreError,
  type StoreEvent,
  type WatchOptions,
} from '../../storage/store.ts';
import { markStale } from '../registry/stale.ts';
import { isOfOneKind, type Rules } from './rules.ts';

/**
 * The store as the registry knows it, over one that holds what `rules` make of values: they may be others at each
 * call. What cannot be read fails with `corrupt`, as a list or a watch of its kind does. A watch over several kinds,
 * which is the server's own, passes over such an event.
 */
export function encryptedStore(store: Store, rules: () => Rules): Store {
  const seal = (key: string, value: Uint8Array) => rules().of(key)?.seal(key, value) ?? value;
  const open = (entry: Entry) => opened(rules(), entry);
  const { recent } = store;
  return {
    get revision() {
      return store.revision;
    },
    get compacted() {
      return store.compacted;
    },
    get refusing() {
      return store.refusing;
    },
    async get(key, options) {
      const entry = await store.get(key, options);
      return entry && open(entry);
    },
    async list(range, options) {
      const found = await store.list(range, options);
      return rules().spares(range) ? found : { ...found, entries: found.entries.map(open) };
    },
    ...(recent && {
      recent(range: Range) {
        const found = recent.call(store, range);
        return rules().spares(range) ? found : found?.map(open);
      },
    }),
    create: (key, value, options) => wrote(open, value, store.create(key, seal(key, value), options)),
    update: (key, value, expected, options) =>
      wrote(open, value, store.update(key, seal(key, value), expected, options)),
    delete: async (key, expected, options) => {
      const entry = await translated(open, store.delete(key, expected, options));
      return readable(open, entry) ?? entry;
    },
    watch: (range, options) => watch(store, range, { options, rules, open }),
    compact: (revision) => store.compact(revision),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    check: () => store.check(),
    ...(store.count && { count: (range: Range) => store.count?.(range) }),
    ...(store.measure && { measure: () => store.measure?.() as ReturnType<NonNullable<Store['measure']>> }),
    close: () => store.close(),
  };
}

type Open = (entry: Entry) => Entry;

function opened(rules: Rules, entry: Entry): Entry {
  const transformer = rules.of(entry.key);
  if (transformer === undefined) return entry;
  try {
    const { value, stale } = transformer.open(entry.key, entry.value);
    if (value === entry.value && !stale) return entry;
    const { key, revision, created } = entry;
    const plain = { key, value, revision, created };
    if (stale) markStale(plain);
    return plain;
  } catch (cause) {
    const message = `unable to transform key "${entry.key}": ${(cause as Error).message}`;
    throw new StoreError('corrupt', message, { key: entry.key, cause });
  }
}

/** The entry holds the very bytes that were given: those who watch know the object by them. */
async function wrote(open: Open, value: Uint8Array, work: Promise<Entry>): Promise<Entry> {
  const entry = await translated(open, work);
  return entry.value === value ? entry : { ...entry, value };
}

/** A conflict tells what is there. */
async function translated(open: Open, work: Promise<Entry>): Promise<Entry> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoreError) || error.current === undefined) throw error;
    const { code, message, key, cause } = error;
    const current = readable(open, error.current);
    throw new StoreError(code, message, {
      ...(key !== undefined && { key }),
      ...(current && { current }),
      cause,
    });
  }
}

function readable(open: Open, entry: Entry): Entry | undefined {
  try {
    return open(entry);
  } catch {
    return undefined;
  }
}

async function watch(
  store: Store,
  range: Range,
  { options, rules, open }: { options: WatchOptions; rules: () => Rules; open: Open },
): Promise<() => void> {
  const { sink, onEnd, signal } = options;
  const one = isOfOneKind(range);
  const stop = new AbortController();
  const within = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  return await store.watch(range, {
    ...options,
    signal: within,
    sink(events) {
      if (within.aborted) return;
      if (rules().spares(range)) return sink(events);
      const plain: StoreEvent[] = [];
      for (const event of events) {
        try {
          plain.push(openedEvent(open, event));
        } catch (error) {
          if (!one) continue;
          if (plain.length > 0) sink(plain);
          stop.abort();
          onEnd?.(error as StoreError);
          return;
        }
      }
      if (plain.length > 0) sink(plain);
    },
  });
}

function openedEvent(open: Open, { type, entry, previous }: StoreEvent): StoreEvent {
  return { type, entry: open(entry), ...(previous && { previous: open(previous) }) };
}
