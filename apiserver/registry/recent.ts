import { type Entry, type ListResult, type Range, type Store, StoreError } from '../../storage/store.ts';

/**
 * Reads of what changes rarely and is asked for by every request: as of the newest revision that this server has
 * seen. That asks no other machine; what another server wrote a moment ago may be missing, as it may in
 * kube-apiserver, which answers such questions from its informers.
 */
export async function recent(store: Store, key: string): Promise<Entry | undefined> {
  try {
    return await store.get(key, { revision: store.revision });
  } catch (error) {
    if (isGone(error)) return await store.get(key);
    throw error;
  }
}

export async function recentList(store: Store, range: Range): Promise<ListResult> {
  try {
    return await store.list(range, { revision: store.revision });
  } catch (error) {
    if (isGone(error)) return await store.list(range);
    throw error;
  }
}

/** Others forgot what this server has not yet left behind. */
function isGone(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'compacted';
}
