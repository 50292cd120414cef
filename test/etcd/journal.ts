import type { Entry, Store, StoreEvent } from '../../storage/store.ts';
import { StoreError } from '../../storage/store.ts';

/** What one writer was told: its acknowledged writes, in order. */
export interface Acknowledged {
  key: string;
  /** Absent: deleted. */
  value?: string;
  revision: number;
}

/**
 * Writes until told to stop, each key by one writer only: create, update some, delete, and again. A write that
 * failed as `unavailable` leaves the writer in doubt; it reads the key and goes on from there.
 */
export async function writeUntil(
  store: Store,
  name: string,
  signal: AbortSignal,
): Promise<{ log: Acknowledged[]; doubts: number; wrong: unknown[] }> {
  const log: Acknowledged[] = [];
  const wrong: unknown[] = [];
  let doubts = 0;
  let current: Entry | undefined;
  for (let n = 0; !signal.aborted; n++) {
    const key = `/journal/${name}`;
    const value = `${name}-${n}`;
    try {
      if (current === undefined) {
        current = await store.create(key, Buffer.from(value));
        log.push({ key, value, revision: current.revision });
      } else if (n % 7 === 6) {
        log.push({ key, revision: (await store.delete(key, current.revision)).revision });
        current = undefined;
      } else {
        current = await store.update(key, Buffer.from(value), current.revision);
        log.push({ key, value, revision: current.revision });
      }
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'unavailable')) wrong.push(error);
      doubts++;
      current = await readAgain(store, key, signal);
    }
  }
  return { log, doubts, wrong };
}

async function readAgain(store: Store, key: string, signal: AbortSignal): Promise<Entry | undefined> {
  for (;;) {
    try {
      return await store.get(key);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof StoreError && error.code === 'unavailable')) throw error;
    }
  }
}

/** A watch's events as the writers' logs would have them. */
export function asLog(events: readonly StoreEvent[]): Acknowledged[] {
  return events.map(({ type, entry }) => ({
    key: entry.key,
    ...(type === 'put' && { value: Buffer.from(entry.value).toString() }),
    revision: entry.revision,
  }));
}

/** What is wrong with a watch of everything: order, duplicates, and versions before that do not fit. */
export function faults(events: readonly StoreEvent[]): string[] {
  const state = new Map<string, number>();
  const found: string[] = [];
  let last = 0;
  for (const { type, entry, previous } of events) {
    if (entry.revision <= last) found.push(`${entry.revision} after ${last}`);
    last = entry.revision;
    if (previous?.revision !== state.get(entry.key)) {
      found.push(`${entry.revision} replaces ${previous?.revision}, not ${state.get(entry.key)}`);
    }
    if (type === 'put') state.set(entry.key, entry.revision);
    else state.delete(entry.key);
  }
  return found;
}
