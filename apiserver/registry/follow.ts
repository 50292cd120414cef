import { sleep, systemClock } from '../../kube/clock.ts';
import type { Entry, Range, Store } from '../../storage/store.ts';

const againMs = 200;

/** What is made of a range of the store. */
export interface Follower {
  put(entry: Entry): void;
  gone(key: string, revision: number): void;
  /** All keys that are there as of a revision, before they are told: what was heard of from elsewhere may be gone. */
  listed?(there: ReadonlySet<string>, revision: number): void;
}

/**
 * Tells what is in a range and every later change, whichever server wrote it, until `signal` aborts. Resolves when
 * all that was there by then is told; rejects when the store cannot be read.
 */
export async function follow(
  store: Store,
  range: Range,
  { put, gone, listed }: Follower,
  signal: AbortSignal,
): Promise<void> {
  const known = new Set<string>();
  const tell = (key: string, entry: Entry | undefined, revision: number): void => {
    if (entry === undefined) known.delete(key);
    else known.add(key);
    if (entry === undefined) gone(key, revision);
    else put(entry);
  };
  const load = async (): Promise<void> => {
    const { entries, revision } = await store.list(range);
    const there = new Set(entries.map(({ key }) => key));
    listed?.(there, revision);
    for (const key of known) if (!there.has(key)) tell(key, undefined, revision);
    for (const entry of entries) tell(entry.key, entry, entry.revision);
    await store.watch(range, {
      after: revision,
      signal,
      sink: (events) => {
        for (const { type, entry } of events) {
          tell(entry.key, type === 'put' ? entry : undefined, entry.revision);
        }
      },
      onEnd: () => void again(),
    });
  };
  // The watch was too slow, or the store was away: what happened since is found by reading anew.
  const again = async (): Promise<void> => {
    for (;;) {
      await sleep(againMs, signal, systemClock);
      if (signal.aborted) return;
      try {
        return await load();
      } catch {
        // The store says so to every request, too.
      }
    }
  };
  await load();
}
