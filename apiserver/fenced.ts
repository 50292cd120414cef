import type { Fence, Store } from '../storage/store.ts';

/** The same store for who leads by a lease: every write happens only while the lease is held with that token. */
export function fencedStore(store: Store, holding: Fence): Store {
  return {
    get revision() {
      return store.revision;
    },
    get compacted() {
      return store.compacted;
    },
    get: (key, options) => store.get(key, options),
    list: (range, options) => store.list(range, options),
    recent: (range) => store.recent?.(range),
    seen: (key) => store.seen?.(key),
    create: (key, value, options) => store.create(key, value, { ...options, holding }),
    update: (key, value, expected, options) => store.update(key, value, expected, { ...options, holding }),
    delete: (key, expected, options) => store.delete(key, expected, { ...options, holding }),
    watch: (range, options) => store.watch(range, options),
    compact: (revision) => store.compact(revision),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    check: () => store.check(),
    close: () => store.close(),
  };
}
