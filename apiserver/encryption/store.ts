import { isLater, type Later } from '../../kube/later.ts';
import { type Entry, type Range, type Store, StoreError } from '../../storage/store.ts';
import { type Open, opened, patiently } from './opened.ts';
import type { Rules } from './rules.ts';
import { watch } from './watch.ts';

/**
 * The store as the registry knows it, over one that holds what `rules` make of values: they may be others at each
 * call. What cannot be read fails with `corrupt`, as a list or a watch that would show it does: who takes it for gone would have
 * what it stands for removed from clusters. A watch over several kinds, which is the server's own, passes over such an
 * event, says so to `unreadable`, and ends when the rules are others. Where the key of a value is to be asked for, whoever
 * wants that value waits, and nobody else.
 */
export function encryptedStore(
  store: Store,
  rules: () => Rules,
  unreadable: (key: string) => void = () => {},
): Store {
  const seal = (key: string, value: Uint8Array) => sealed(rules(), key, value);
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
      return entry && patiently(open, entry);
    },
    async list(range, options) {
      const found = await store.list(range, options);
      if (rules().spares(range)) return found;
      const entries = openAll(open, found.entries);
      return { ...found, entries: isLater(entries) ? await entries : entries };
    },
    ...(recent && {
      recent(range: Range) {
        const found = recent.call(store, range);
        if (found === undefined || rules().spares(range)) return found;
        const entries = openAll(open, found);
        if (!isLater(entries)) return entries;
        entries.catch(() => undefined);
        return undefined;
      },
    }),
    seen(key) {
      const found = store.seen?.(key);
      return found && openedNow(open, found);
    },
    create: async (key, value, options) => wrote(open, value, store.create(key, seal(key, value), options)),
    update: async (key, value, expected, options) =>
      wrote(open, value, store.update(key, seal(key, value), expected, options)),
    delete: async (key, expected, options) => {
      const entry = await translated(open, store.delete(key, expected, options));
      return (await readable(open, entry)) ?? entry;
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

function sealed(rules: Rules, key: string, value: Uint8Array): Uint8Array {
  try {
    return rules.of(key)?.seal(key, value) ?? value;
  } catch (cause) {
    throw new StoreError('corrupt', (cause as Error).message, { key, cause });
  }
}

/** Undefined where the key of its value is to be asked for, or it cannot be read: whoever reads it anew hears why. */
function openedNow(open: Open, entry: Entry): Entry | undefined {
  try {
    const plain = patiently(open, entry);
    if (!isLater(plain)) return plain;
    plain.catch(() => undefined);
  } catch {
    // See above.
  }
  return undefined;
}

/** Now, unless something is to be asked for. */
function openAll(open: Open, entries: readonly Entry[]): Later<readonly Entry[]> {
  const plain: Entry[] = [];
  for (const entry of entries) {
    const one = patiently(open, entry);
    if (isLater(one)) return one.then((first) => openRest(open, entries, [...plain, first]));
    plain.push(one);
  }
  return plain;
}

/** What fails is not asked for again for what comes after it. */
async function openRest(open: Open, entries: readonly Entry[], plain: Entry[]): Promise<readonly Entry[]> {
  for (const entry of entries.slice(plain.length)) {
    const one = patiently(open, entry);
    plain.push(isLater(one) ? await one : one);
  }
  return plain;
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
    const current = await readable(open, error.current);
    throw new StoreError(code, message, {
      ...(key !== undefined && { key }),
      ...(current && { current }),
      cause,
    });
  }
}

async function readable(open: Open, entry: Entry): Promise<Entry | undefined> {
  try {
    return await patiently(open, entry);
  } catch {
    return undefined;
  }
}
