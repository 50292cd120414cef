import type { Range, Store } from '../../storage/store.ts';
import type { SpanTracer } from './tracer.ts';

/** The same store, whose reads and writes for a request are steps of it. What is answered from memory at once is none. */
export function tracedStore(store: Store, tracer: SpanTracer): Store {
  const step = <T>(name: string, key: string, work: () => Promise<T>) =>
    tracer.step(`store ${name}`, 'internal', () => ({ key }), work);
  const { recent, count, measure } = store;
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
    get: (key, options) => step('get', key, () => store.get(key, options)),
    list: (range, options) => step('list', range.start, () => store.list(range, options)),
    ...(recent && { recent: (range: Range) => recent.call(store, range) }),
    seen: (key) => store.seen?.(key),
    create: (key, value, options) => step('create', key, () => store.create(key, value, options)),
    update: (key, value, expected, options) =>
      step('update', key, () => store.update(key, value, expected, options)),
    delete: (key, expected, options) => step('delete', key, () => store.delete(key, expected, options)),
    watch: (range, options) => store.watch(range, options),
    compact: (revision) => store.compact(revision),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    check: () => store.check(),
    ...(count && { count: (range: Range) => count.call(store, range) }),
    ...(measure && { measure: () => measure.call(store) }),
    close: () => store.close(),
  };
}
