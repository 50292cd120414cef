import { type Entry, type ListResult, type Store, StoreError, type StoreEvent } from '../../storage/store.ts';

/**
 * A store as it would be on an etcd of its own that starts at revision 0: every revision less `base`, what etcd's
 * revision was before. The contract suite counts revisions, and many of its stores share one etcd.
 */
export function fromZero(store: Store, base: number): Store {
  const entry = (e: Entry): Entry => ({ ...e, revision: e.revision - base, created: e.created - base });
  const maybe = (e: Entry | undefined) => e && entry(e);
  const event = ({ type, entry: e, previous }: StoreEvent): StoreEvent => ({
    type,
    entry: entry(e),
    ...(previous !== undefined && { previous: entry(previous) }),
  });
  const failure = (error: unknown): never => {
    if (error instanceof StoreError && error.current !== undefined) {
      const { code, message, key, current } = error;
      throw new StoreError(code, message, { ...(key !== undefined && { key }), current: entry(current) });
    }
    throw error;
  };
  const list = (result: ListResult): ListResult => ({
    ...result,
    entries: result.entries.map(entry),
    revision: result.revision - base,
  });
  const up = <O extends { revision?: number }>(options: O | undefined): O | undefined =>
    options?.revision === undefined ? options : { ...options, revision: options.revision + base };
  return {
    get revision() {
      return store.revision - base;
    },
    get compacted() {
      return Math.max(0, store.compacted - base);
    },
    get: async (key, options) => maybe(await store.get(key, up(options))),
    list: async (range, options) => list(await store.list(range, up(options))),
    recent: (range) => store.recent?.(range)?.map(entry),
    create: (key, value, options) => store.create(key, value, options).then(entry, failure),
    update: (key, value, expected, options) =>
      store.update(key, value, expected + base, options).then(entry, failure),
    delete: (key, expected, options) => store.delete(key, expected + base, options).then(entry, failure),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    watch: (range, { after, sink, ...rest }) =>
      store.watch(range, { ...rest, after: after + base, sink: (events) => sink(events.map(event)) }),
    compact: (revision) => store.compact(revision + base),
    check: () => store.check(),
    close: () => store.close(),
  };
}
