import type { Store, StoreEvent } from '../store.ts';
import { Flag, Item, Tell } from './ops.ts';
import type { Outbox } from './outbox.ts';

/**
 * Tells watches, all of them in one frame until something else has to be told. Each event is in it once, however
 * many watches get it; what goes to several watches together is one batch, followed by their numbers.
 *
 * The frame begins with the store's revision when it was ended, so it is never ended while a commit is being
 * delivered: whoever has read the frame has all that the watches get of that revision.
 */
export class Push {
  readonly #store: Store;
  readonly #box: Outbox;
  readonly #events = new Map<StoreEvent, number>();
  /** By the array, or by the event when it is the only one. */
  readonly #batches = new Map<readonly StoreEvent[] | StoreEvent, number>();
  /** Whether a frame was begun. */
  open = false;
  #head = 0;
  /** The batch that watches get, if that is the last item; else -1. */
  #given = -1;
  #countAt = 0;
  #count = 0;
  /** What the other side knows. */
  #revision = -1;
  #compacted = -1;

  constructor(store: Store, box: Outbox) {
    this.#store = store;
    this.#box = box;
  }

  give(watch: number, events: readonly StoreEvent[]): void {
    const { out } = this.#box;
    this.#begin();
    const [only] = events;
    const name = events.length === 1 && only !== undefined ? only : events;
    const batch = this.#batches.get(name) ?? this.#batch(name, events);
    if (this.#given !== batch) {
      this.#endGive();
      out.u8(Item.give);
      out.u32(batch);
      this.#countAt = out.length;
      out.u32(0);
      this.#given = batch;
    }
    this.#count++;
    out.u32(watch);
  }

  synced(watch: number, yes: boolean): void {
    this.#begin();
    this.#endGive();
    this.#box.out.u8(yes ? Item.synced : Item.lagging);
    this.#box.out.u32(watch);
  }

  /** Before a frame of another kind, and at the end of the turn: ends what is open, and tells what is visible by now. */
  settle(): void {
    const { revision, compacted } = this.#store;
    if (!this.open) {
      if (revision === this.#revision && compacted === this.#compacted) return;
      this.#begin();
    }
    this.#endGive();
    const { out } = this.#box;
    out.patchF64(this.#head, revision);
    out.patchF64(this.#head + 8, compacted);
    out.end();
    this.#revision = revision;
    this.#compacted = compacted;
    this.open = false;
    this.#events.clear();
    this.#batches.clear();
  }

  #begin(): void {
    if (this.open) return;
    const { out } = this.#box;
    this.open = true;
    out.begin(Tell.push, 0);
    this.#head = out.length;
    out.f64(0);
    out.f64(0);
    this.#box.touch();
  }

  #endGive(): void {
    if (this.#given < 0) return;
    this.#box.out.patchU32(this.#countAt, this.#count);
    this.#given = -1;
    this.#count = 0;
  }

  #batch(name: readonly StoreEvent[] | StoreEvent, events: readonly StoreEvent[]): number {
    this.#endGive();
    const numbers = events.map((event) => this.#events.get(event) ?? this.#event(event));
    const { out } = this.#box;
    out.u8(Item.batch);
    out.u32(numbers.length);
    for (const number of numbers) out.u32(number);
    const number = this.#batches.size;
    this.#batches.set(name, number);
    return number;
  }

  #event(event: StoreEvent): number {
    const { out } = this.#box;
    const { entry, previous } = event;
    const same = previous?.value === entry.value;
    out.u8(Item.event);
    out.u8(
      (event.type === 'delete' ? Flag.delete : 0) |
        (previous === undefined ? 0 : Flag.previous) |
        (same ? Flag.sameValue : 0),
    );
    out.string(entry.key);
    out.f64(entry.revision);
    out.f64(entry.created);
    if (!same) out.value(entry.value);
    if (previous !== undefined) {
      out.f64(previous.revision);
      out.f64(previous.created);
      out.value(previous.value);
    }
    const number = this.#events.size;
    this.#events.set(event, number);
    return number;
  }
}
