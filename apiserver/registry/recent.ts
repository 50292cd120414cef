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
  return store.recent?.(range) ?? listed(store, range);
}

async function listed(store: Store, range: Range): Promise<readonly Entry[]> {
  try {
    return (await store.list(range, { revision: store.revision })).entries;
  } catch (error) {
    if (isGone(error)) return (await store.list(range)).entries;
    throw error;
  }
}

/** Others forgot what this server has not yet left behind, or an etcd that was restored from a backup went back. */
function isGone(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'compacted' || error.code === 'future');
}
