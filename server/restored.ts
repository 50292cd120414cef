import { randomUUID } from 'node:crypto';
import { internalPrefix } from '../apiserver/registry/keys.ts';
import { type Entry, type Store, StoreError } from '../storage/store.ts';

/** Names the restoring of a backup that a store was made by; below it, by the uids of physical clusters, the last by which each was met. */
const key = `${internalPrefix}restored`;

/** What `atoll restore` puts into a store. */
export function restoredNow(): Record<string, Uint8Array> {
  return { [key]: Buffer.from(randomUUID()) };
}

/**
 * Undefined, but of a store that was made of a backup and a physical cluster that it has not met since, as what it is or as all of the `former`
 * that it takes over: then what says that it has by now.
 */
export async function firstMeeting(
  store: Store,
  uid: string,
  former: Iterable<string>,
): Promise<(() => Promise<void>) | undefined> {
  const restored = await store.get(key);
  if (restored === undefined) return undefined;
  const byOf = (one: string) => store.get(`${key}/${one}`);
  const isLast = (by: Entry | undefined) => by && Buffer.compare(by.value, restored.value) === 0;
  const [met, ...others] = await Promise.all([uid, ...former].map(byOf));
  if (isLast(met) || (others.length > 0 && others.every(isLast))) return undefined;
  return async () => {
    try {
      if (met === undefined) await store.create(`${key}/${uid}`, restored.value);
      else await store.update(`${key}/${uid}`, restored.value, met.revision);
    } catch (error) {
      // Another server was as far.
      if (!(error instanceof StoreError) || !['exists', 'conflict'].includes(error.code)) throw error;
    }
  };
}
