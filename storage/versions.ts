import { countAt } from './count.ts';
import { EventLog } from './event-log.ts';
import { KeyIndex, type Slot } from './key-index.ts';
import { Recents } from './recents.ts';
import { Hand, isOnDisk, ON_DISK } from './residency.ts';
import { compactedError, futureError } from './revisions.ts';
import {
  addEvent,
  currentOf,
  dropOldestEvent,
  entryAt,
  eventsIn,
  isEmpty,
  newestEvent,
  pinnedBytes,
} from './slot.ts';
import {
  type Entry,
  type ListOptions,
  type ListResult,
  type Range,
  type StoreEvent,
  startAfter,
} from './store.ts';

const FEW_SLOTS = 128;
/** An event without its values: the objects, and what memory of its own costs a value. */
const EVENT_BYTES = 512;

/**
 * Every version of every key after the last compaction, in memory. Shared by the backends: a backend decides
 * when a proposed event is durable, then applies it, which makes it visible. Nothing here waits.
 *
 * A key's history is its events: an event holds the entry before it, so the state at any kept revision is the
 * newest event at or below it, or else what the oldest kept event replaced, or else the current entry.
 */
export class Versions {
  readonly #index = new KeyIndex();
  readonly #recents = new Recents(this.#index);
  readonly #log = new EventLog();
  readonly #hand: Hand;
  readonly #contiguous: boolean;
  #revision: number;
  #compacted: number;
  #historyBytes = 0;

  /**
   * Starts after `compacted`, with no keys. `contiguous` (the default): each event has the next revision. Without
   * it revisions may be left out, and events of one commit share theirs. `budget`: so many bytes of current values
   * stay; the others become ON_DISK, and who asks for them has to read them.
   */
  constructor(compacted = 0, { contiguous = true, budget = Infinity } = {}) {
    this.#hand = new Hand(this.#index, budget);
    this.#contiguous = contiguous;
    this.#revision = compacted;
    this.#compacted = compacted;
  }

  get revision(): number {
    return this.#revision;
  }

  get compacted(): number {
    return this.#compacted;
  }

  /** What history costs: the values that nothing else keeps, and what each event is beside its values. */
  get historyBytes(): number {
    return this.#historyBytes + this.#log.length * EVENT_BYTES;
  }

  /** How many keys have a current entry. */
  get size(): number {
    return this.#index.countLive({ start: '', end: '\x7f' });
  }

  /** The current entry, without counting as a use of it; its value may be ON_DISK. */
  peek(key: string): Entry | undefined {
    return this.#index.find(key)?.current;
  }

  get(key: string, revision?: number): Entry | undefined {
    const slot = this.#index.find(key);
    if (slot !== undefined) slot.used = true;
    if (revision === undefined) return slot && currentOf(slot);
    this.check(revision);
    return slot === undefined ? undefined : entryAt(slot, revision);
  }

  list(range: Range, options: ListOptions = {}): ListResult {
    const revision = options.revision ?? this.#revision;
    const { entries, more } = this.page(range, { ...options, revision });
    return { entries, revision, more, remaining: more ? this.remaining(range, entries, revision) : 0 };
  }

  /** The newest entries of a range with few keys, if all are in memory. */
  recent(range: Range): readonly Entry[] | undefined {
    return this.#recents.list(range);
  }

  /** As `list`, without what is left. */
  page(range: Range, options: ListOptions & { revision: number }): { entries: Entry[]; more: boolean } {
    const { revision } = options;
    this.check(revision);
    const limit = options.limit === undefined || options.limit <= 0 ? Infinity : options.limit;
    const rest: Range = { start: startAfter(range, options.after), end: range.end };
    const entries: Entry[] = [];
    let more = false;
    const newest = revision === this.#revision;
    this.#index.walk(rest, (slot) => {
      const entry = newest ? currentOf(slot) : entryAt(slot, revision);
      if (entry === undefined) return true;
      if (entries.length < limit) return entries.push(entry) > 0;
      more = true;
      return false;
    });
    return { entries, more };
  }

  /** How many entries of the range come after the last of `entries`; in all, where there are none. */
  remaining(range: Range, entries: readonly Entry[], revision: number): number {
    const last = entries[entries.length - 1];
    const rest = last === undefined ? range : { start: startAfter(range, last.key), end: range.end };
    return countAt({ index: this.#index, log: this.#log, newest: this.#revision }, rest, revision);
  }

  /** Makes room for a key that is about to be written: work that need not be done when it is. Shows nowhere. */
  expect(key: string): void {
    this.#index.ensure(key);
  }

  /** Takes back what `expect` did for a key that was not written. */
  unexpect(key: string): void {
    const slot = this.#index.find(key);
    if (slot !== undefined && isEmpty(slot)) this.#index.remove(slot);
  }

  /** Makes the next event visible. It must have been proposed against the state that it is applied to. */
  apply(event: StoreEvent): void {
    const { revision } = event.entry;
    if (this.#contiguous ? revision !== this.#revision + 1 : revision < this.#revision) {
      throw new RangeError(`revision ${revision} cannot follow ${this.#revision}`);
    }
    const slot = this.#index.ensure(event.entry.key);
    this.#set(slot, event.type === 'put' ? event.entry : undefined);
    slot.used = true;
    addEvent(slot, event);
    this.#recents.changed(slot.key);
    this.#log.append(event);
    this.#historyBytes += event.previous?.value.length ?? 0;
    this.#revision = revision;
    this.#shrink();
  }

  /** Says that nothing happened here up to `revision`: its revisions are somebody else's. */
  advance(revision: number): void {
    if (revision > this.#revision) this.#revision = revision;
  }

  /** Adds an entry that is at or below the compacted revision: a key without history. Only while loading. */
  seed(entry: Entry): void {
    this.#index.setCurrent(this.#index.ensure(entry.key), entry);
    this.#recents.changed(entry.key);
    this.#shrink();
  }

  /** Puts the value back of an entry that is on disk, unless it is no longer current. */
  fill(entry: Entry): void {
    const slot = this.#index.find(entry.key);
    if (slot === undefined || !isOnDisk(slot.current) || slot.current?.revision !== entry.revision) return;
    // Before, not after: this one must stay until whoever asked for it has used it.
    this.#shrink();
    this.#set(slot, entry);
    slot.used = true;
  }

  /** The events that `compact(revision)` would forget; throws `future`. */
  compactable(revision: number): StoreEvent[] {
    if (revision > this.#revision) throw futureError(revision, this.#revision);
    return this.#log.slice(this.#compacted, revision);
  }

  /** Forgets history up to and including `revision`; nothing when that already happened. */
  compact(revision: number): void {
    for (const event of this.compactable(revision)) {
      this.#historyBytes -= event.previous?.value.length ?? 0;
      const slot = this.#index.find(event.entry.key);
      if (slot?.events === undefined) continue;
      const pinned = pinnedBytes(slot);
      dropOldestEvent(slot);
      this.#historyBytes += pinnedBytes(slot) - pinned;
      if (isEmpty(slot)) this.#index.remove(slot);
    }
    if (revision > this.#compacted) {
      this.#compacted = revision;
      this.#log.drop(revision);
    }
  }

  /**
   * The first events of the range after a revision, and up to which revision they are all. Looks through a chunk of
   * the log, or, where the range is small, through what each of its keys went through.
   */
  next(after: number, range: Range): { events: StoreEvent[]; until: number } {
    this.check(after);
    if (after === this.#revision) return { events: [], until: after };
    const few = Math.min(FEW_SLOTS, this.#revision - after);
    const events = this.#index.countSlots(range) < few ? eventsIn(this.#index, range, after) : undefined;
    if (events !== undefined) return { events, until: this.#revision };
    const next = this.#log.next(after, range);
    return { events: next.events, until: Math.min(next.until, this.#revision) };
  }

  /** Throws `compacted` or `future` when the state as of `revision` is not known. */
  check(revision: number): void {
    if (revision > this.#revision) throw futureError(revision, this.#revision);
    if (revision < this.#compacted) throw compactedError(revision, this.#compacted);
  }

  /** Puts right what memory has of a key: the newest of it that is stored. */
  mend(key: string, entry: Entry | undefined): void {
    const slot = this.#index.ensure(key);
    this.#set(slot, entry);
    this.#recents.changed(key);
    const newest = newestEvent(slot);
    if (entry !== undefined && newest?.type === 'put' && newest.entry.revision === entry.revision) {
      Object.assign(newest, { entry });
    }
    if (isEmpty(slot)) this.#index.remove(slot);
  }

  #shrink(): void {
    this.#hand.turn((slot) => {
      if (slot.current !== undefined) this.#set(slot, { ...slot.current, value: ON_DISK });
    });
  }

  #set(slot: Slot, entry: Entry | undefined): void {
    this.#historyBytes -= pinnedBytes(slot);
    this.#index.setCurrent(slot, entry);
    this.#historyBytes += pinnedBytes(slot);
  }
}
