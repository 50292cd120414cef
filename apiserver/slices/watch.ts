import type { Entry, Range, Store, StoreEvent, WatchOptions } from '../../storage/store.ts';
import { joined } from './joined.ts';
import { both, isWithin, placementKeyOf, slicesIn } from './keys.ts';

/** One Placement and what is said of it, as of the last event. */
interface Parts {
  placement: Entry | undefined;
  slices: Map<string, Entry>;
  /** As it was shown last. */
  shown: Entry | undefined;
}

/**
 * A watch of Placements with what their clusters say: an event where either changes, each at its own revision, of which the store
 * has one order over both. So it may be resumed after any of them, as any watch.
 */
export async function watchJoined(store: Store, range: Range, options: WatchOptions): Promise<() => void> {
  const slices = slicesIn(range);
  const state = await State.load(store, range, slices, options.after);
  return await store.watch(
    { start: range.start, end: both.end },
    {
      ...options,
      sink(events) {
        const own = events.flatMap((event) => {
          const { key } = event.entry;
          const told = isWithin(key, range)
            ? state.placement(event)
            : isWithin(key, slices)
              ? state.slice(event)
              : undefined;
          return told ?? [];
        });
        if (own.length > 0) options.sink(own);
      },
    },
  );
}

class State {
  readonly #parts = new Map<string, Parts>();

  static async load(store: Store, range: Range, slices: Range, revision: number): Promise<State> {
    const state = new State();
    for (const entry of (await store.list(range, { revision })).entries)
      state.#of(entry.key).placement = entry;
    for (const entry of (await store.list(slices, { revision })).entries)
      state.#of(placementKeyOf(entry.key)).slices.set(entry.key, entry);
    return state;
  }

  placement({ type, entry }: StoreEvent): StoreEvent | undefined {
    const parts = this.#of(entry.key);
    const previous = this.#shown(parts);
    parts.placement = type === 'put' ? entry : undefined;
    parts.shown = undefined;
    const { revision } = entry;
    if (type === 'delete') {
      this.#forget(entry.key, parts);
      return { type, entry: previous ? { ...previous, revision } : entry, ...(previous && { previous }) };
    }
    return { type, entry: this.#show(parts, entry, revision), ...(previous && { previous }) };
  }

  slice({ type, entry }: StoreEvent): StoreEvent | undefined {
    const key = placementKeyOf(entry.key);
    const parts = this.#of(key);
    const previous = this.#shown(parts);
    if (type === 'put') parts.slices.set(entry.key, entry);
    else parts.slices.delete(entry.key);
    if (!parts.placement || !previous) {
      this.#forget(key, parts);
      return undefined;
    }
    const now = this.#show(parts, parts.placement, entry.revision);
    // What is said of a share that is gone is not shown, nor that it goes.
    if (Buffer.compare(now.value, previous.value) === 0) return undefined;
    return { type: 'put', entry: now, previous };
  }

  #of(key: string): Parts {
    const parts = this.#parts.get(key) ?? { placement: undefined, slices: new Map(), shown: undefined };
    this.#parts.set(key, parts);
    return parts;
  }

  #shown(parts: Parts): Entry | undefined {
    return parts.shown ?? (parts.placement && this.#show(parts, parts.placement));
  }

  #show(parts: Parts, placement: Entry, revision?: number): Entry {
    parts.shown = joined(placement, [...parts.slices.values()], revision);
    return parts.shown;
  }

  #forget(key: string, { placement, slices }: Parts): void {
    if (!placement && slices.size === 0) this.#parts.delete(key);
  }
}
