import { isLater, type Later } from '../../kube/later.ts';
import { type Entry, type Range, type Store, StoreError } from '../../storage/store.ts';

/**
 * Reads of what changes rarely and is asked for by every request: as of the newest revision that this server has
 * seen. That asks no other machine; what another server wrote a moment ago may be missing, as it may in
 * kube-apiserver, which answers such questions from its informers.
 */
export async function recent(store: Store, key: string): Promise<Entry | undefined> {
  const found = recentAt(store, key);
  return (isLater(found) ? await found : found)[0];
}

/** The entry of a key, or none. */
export function recentAt(store: Store, key: string): Later<readonly Entry[]> {
  return recentList(store, { start: key, end: `${key}\0` });
}

/** At once where the store can: a promise costs more than the answer, which is mostly that there is nothing. */
export function recentList(store: Store, range: Range): Later<readonly Entry[]> {
  const { lists } = answersOf(store);
  const known = lists.get(range.start);
  if (known !== undefined && known.end === range.end) return known.entries;
  const entries = store.recent?.(range);
  if (entries === undefined) return listed(store, range);
  if (lists.size >= mostAnswers) lists.clear();
  lists.set(range.start, { end: range.end, entries });
  return entries;
}

interface Answers {
  revision: number;
  /** By the start of a range. */
  lists: Map<string, { end: string; entries: readonly Entry[] }>;
}

const mostAnswers = 1000;
const answers = new WeakMap<Store, Answers>();

/** What was answered as of the store's revision, which stays true for as long as that is the newest. */
function answersOf(store: Store): Answers {
  const { revision } = store;
  let known = answers.get(store);
  if (known === undefined) {
    known = { revision, lists: new Map() };
    answers.set(store, known);
  } else if (known.revision !== revision) {
    known.revision = revision;
    known.lists.clear();
  }
  return known;
}

async function listed(store: Store, range: Range): Promise<readonly Entry[]> {
  try {
    return (await store.list(range, { revision: store.revision })).entries;
  } catch (error) {
    if (isGone(error)) return (await store.list(range)).entries;
    throw error;
  }
}

/** Others forgot what this server has not yet left behind. */
function isGone(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'compacted';
}
