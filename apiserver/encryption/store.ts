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
 * call. What cannot be read fails with `corrupt`, as a list or a watch that would show it does: who takes it for gone would have
 * what it stands for removed from clusters. A watch over several kinds, which is the server's own, passes over such an
 * event, says so to `unreadable`, and ends when the rules are others.
 */
export function encryptedStore(
  store: Store,
  rules: () => Rules,
  unreadable: (key: string) => void = () => {},
): Store {
  const openAll = (range: Range, entries: readonly Entry[]): readonly Entry[] =>
    rules().spares(range) ? entries : entries.map(open);
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
      return { ...found, entries: openAll(range, found.entries) };
    },
    ...(recent && {
      recent(range: Range) {
        const found = recent.call(store, range);
        return found && openAll(range, found);
      },
    }),
    create: (key, value, options) => wrote(open, value, store.create(key, seal(key, value), options)),
    update: (key, value, expected, options) =>
      wrote(open, value, store.update(key, seal(key, value), expected, options)),
    delete: async (key, expected, options) => {
      const entry = await translated(open, store.delete(key, expected, options));
      return readable(open, entry) ?? entry;
    },
    watch: (range, options) => watch(store, range, { options, rules, open, unreadable }),
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

interface Watching {
  options: WatchOptions;
  rules: () => Rules;
  open: Open;
  unreadable: (key: string) => void;
}

async function watch(store: Store, range: Range, how: Watching): Promise<() => void> {
  const { sink, onEnd, signal } = how.options;
  const one = isOfOneKind(range);
  const stop = new AbortController();
  const within = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const end = (error: StoreError): void => {
    stop.abort();
    onEnd?.(error);
  };
  let passedUnder: Rules | undefined;
  return await store.watch(range, {
    ...how.options,
    signal: within,
    sink(events) {
      const rules = how.rules();
      if (within.aborted) return;
      if (passedUnder !== undefined && passedUnder !== rules)
        return end(new StoreError('compacted', 'what could not be read may be by now'));
      if (rules.spares(range)) return sink(events);
      const plain: StoreEvent[] = [];
      for (const event of events) {
        try {
          plain.push(openedEvent(how.open, event));
        } catch (error) {
          if (!one) {
            how.unreadable(event.entry.key);
            passedUnder = rules;
            continue;
          }
          if (plain.length > 0) sink(plain);
          return end(error as StoreError);
        }
      }
      if (plain.length > 0) sink(plain);
    },
  });
}

function openedEvent(open: Open, { type, entry, previous }: StoreEvent): StoreEvent {
  return { type, entry: open(entry), ...(previous && { previous: open(previous) }) };
}
