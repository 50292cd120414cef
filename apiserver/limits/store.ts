import type { Entry, Range, Store } from '../../storage/store.ts';
import { type Amounts, isNothing, nothing } from './decide.ts';
import type { Holds } from './holds.ts';
import { amountsOf, clusterOf, isHooks } from './keys.ts';
import type { Bounded, Tree } from './tree.ts';

/**
 * The same store, in which a write that says what it adds fails with `limited` where that is more than its logical cluster,
 * or one above it, may store. Of what says nothing, such as the server's own writes, nothing is asked.
 */
export function boundedStore(store: Store, tree: Tree, holds: Holds): Store {
  const { recent } = store;
  const chainOf = (key: string, adds: number | undefined) =>
    adds === undefined ? [] : tree.chain(clusterOf(key));
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
    get: (key, options) => store.get(key, options),
    list: (range, options) => store.list(range, options),
    ...(recent && { recent: (range: Range) => recent.call(store, range) }),
    seen: (key) => store.seen?.(key),
    create(key, value, options) {
      const chain = chainOf(key, options?.adds);
      if (chain.length === 0) return store.create(key, value, options);
      return within(holds, chain, amountsOf(key, value), () => store.create(key, value, options));
    },
    update(key, value, expected, options) {
      const chain = chainOf(key, options?.adds);
      if (chain.length === 0) return store.update(key, value, expected, options);
      const write = () => store.update(key, value, expected, options);
      const adds = { ...nothing(), bytes: Math.max(0, options?.adds ?? 0) };
      if (isHooks(key))
        return grown(store, key, value, adds).then((more) => within(holds, chain, more, write));
      return within(holds, chain, adds, write);
    },
    delete: (key, expected, options) => store.delete(key, expected, options),
    watch: (range, options) => store.watch(range, options),
    compact: (revision) => store.compact(revision),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    check: () => store.check(),
    ...(store.count && { count: (range: Range) => store.count?.(range) }),
    ...(store.measure && { measure: () => store.measure?.() as ReturnType<NonNullable<Store['measure']>> }),
    close: () => store.close(),
  };
}

async function within(
  holds: Holds,
  chain: readonly Bounded[],
  more: Readonly<Amounts>,
  write: () => Promise<Entry>,
): Promise<Entry> {
  if (isNothing(more)) return await write();
  const hold = await holds.take(chain, more);
  try {
    const entry = await write();
    holds.settle(hold, entry.revision);
    return entry;
  } catch (error) {
    holds.settle(hold);
    throw error;
  }
}

/** Webhooks are counted, too, of which there may be more in fewer bytes. */
async function grown(store: Store, key: string, value: Uint8Array, adds: Amounts): Promise<Amounts> {
  const before = await store.get(key);
  const had = before ? amountsOf(key, before.value).webhooks : 0;
  return { ...adds, webhooks: Math.max(0, amountsOf(key, value).webhooks - had) };
}
