import { setImmediate as nextTurn } from 'node:timers/promises';
import { isOnDisk } from './residency.ts';
import { type Entry, type ListOptions, type ListResult, type Range, StoreError } from './store.ts';
import type { Versions } from './versions.ts';

const CHUNK = 500;
const SLICE_MS = 2;
const ATTEMPTS = 5;

export interface Listed {
  readonly result: ListResult;
  /** Whether there is an entry whose value is on disk only. To look for one later would take a while by itself. */
  readonly partial: boolean;
}

/** For long work in pieces: who waits between two of them for what it answers lets everybody else have turns. */
export function pacer(): () => Promise<void> | undefined {
  let turn = performance.now();
  const next = async (): Promise<void> => {
    await nextTurn();
    turn = performance.now();
  };
  return () => (performance.now() - turn < SLICE_MS ? undefined : next());
}

/** As Versions.list, but everything else gets its turn every few milliseconds. One revision all the same. */
export async function listInTurns(
  versions: Versions,
  range: Range,
  options: ListOptions = {},
): Promise<Listed> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listAt(versions, range, { ...options, revision: options.revision ?? versions.revision });
    } catch (error) {
      // Somebody compacted up to now while the list was made; who asked for now can be given a newer one.
      const gone = error instanceof StoreError && error.code === 'compacted';
      if (!gone || options.revision !== undefined || attempt === ATTEMPTS) throw error;
    }
  }
}

async function listAt(
  versions: Versions,
  range: Range,
  options: ListOptions & { revision: number },
): Promise<Listed> {
  const { revision } = options;
  const limit = options.limit === undefined || options.limit <= 0 ? Infinity : options.limit;
  const entries: Entry[] = [];
  let { after } = options;
  let partial = false;
  const pace = pacer();
  for (;;) {
    const wanted = Math.min(CHUNK, limit - entries.length);
    const page = versions.page(range, { revision, limit: wanted, ...(after !== undefined && { after }) });
    for (const entry of page.entries) {
      partial ||= isOnDisk(entry);
      entries.push(entry);
    }
    after = entries[entries.length - 1]?.key;
    if (!page.more || entries.length >= limit) {
      const remaining = page.more ? versions.remaining(range, entries, revision) : 0;
      return { result: { entries, revision, more: page.more, remaining }, partial };
    }
    await pace();
  }
}
