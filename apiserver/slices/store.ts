import { type Entry, prefixRange, type Store } from '../../storage/store.ts';
import { joined, joinedWhole } from './joined.ts';
import { isOfPlacements, placementKeyOf, slicesIn, slicesOf } from './keys.ts';
import { watchJoined } from './watch.ts';

/** Of a page, so many are asked for their slices at once. */
const atOnce = 64;

/**
 * The store as it is shown to users: a Placement has in its status what its clusters say, which is stored beside it. It is
 * read as of one revision, and its own is the newest of its parts; `get` may answer it under that of the Placement `own`. For
 * reading.
 */
export function joinedStore(store: Store, as: 'newest' | 'own' = 'newest'): Store {
  return {
    get revision() {
      return store.revision;
    },
    get compacted() {
      return store.compacted;
    },
    async get(key, options) {
      if (!isOfPlacements({ start: key, end: key })) return store.get(key, options);
      const { entries, revision } = await store.list(prefixRange(slicesOf(key)), options);
      const entry = await store.get(key, { revision });
      return entry && (as === 'own' ? joinedWhole(entry, entries) : joined(entry, entries));
    },
    async list(range, options) {
      const found = await store.list(range, options);
      if (!isOfPlacements(range)) return found;
      const { entries, revision } = found;
      const all = options?.limit === undefined;
      const read = all
        ? (await store.list(slicesIn(range), { revision })).entries
        : await slicesOfEach(store, entries, revision);
      const slices = byPlacement(read);
      return { ...found, entries: entries.map((entry) => joined(entry, slices.get(entry.key) ?? [])) };
    },
    recent: (range) => (isOfPlacements(range) ? undefined : store.recent?.(range)),
    create: (key, value, options) => store.create(key, value, options),
    update: (key, value, expected, options) => store.update(key, value, expected, options),
    delete: (key, expected, options) => store.delete(key, expected, options),
    watch: (range, options) =>
      isOfPlacements(range) ? watchJoined(store, range, options) : store.watch(range, options),
    compact: (revision) => store.compact(revision),
    acquire: (name, ttlMs) => store.acquire(name, ttlMs),
    check: () => store.check(),
    close: () => store.close(),
  };
}

function byPlacement(slices: readonly Entry[]): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const slice of slices) {
    const key = placementKeyOf(slice.key);
    const own = found.get(key);
    if (own) own.push(slice);
    else found.set(key, [slice]);
  }
  return found;
}

async function slicesOfEach(store: Store, entries: readonly Entry[], revision: number): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let i = 0; i < entries.length; i += atOnce) {
    const some = entries.slice(i, i + atOnce);
    const lists = some.map(({ key }) => store.list(prefixRange(slicesOf(key)), { revision }));
    for (const { entries: own } of await Promise.all(lists)) found.push(...own);
  }
  return found;
}
