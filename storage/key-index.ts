import type { Entry, Range, StoreEvent } from './store.ts';

/** What the index keeps per key. A key stays while it has a current entry or an event that is not compacted. */
export interface Slot {
  readonly key: string;
  current: Entry | undefined;
  /** The events of this key after the last compaction, oldest first; most keys have one, and no array for it. See slot.ts. */
  events: StoreEvent | StoreEvent[] | undefined;
  /** Read since somebody last set this to false; see residency.ts. */
  used: boolean;
}

interface Block {
  readonly slots: Slot[];
  /** How many of the slots have a current entry; keeps counting a range cheap. */
  live: number;
}

const BLOCK_SIZE = 512;

/**
 * All keys in order: a list of short sorted blocks, found by two binary searches. Inserting moves at most one
 * block, a range walks neighbours, and counting a range adds one number per block. Good for a few million keys.
 */
export class KeyIndex {
  readonly #byKey = new Map<string, Slot>();
  readonly #blocks: Block[] = [];
  #bytes = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /** Of all current values. */
  get bytes(): number {
    return this.#bytes;
  }

  find(key: string): Slot | undefined {
    return this.#byKey.get(key);
  }

  /** The slot of `key`, made when there is none. */
  ensure(key: string): Slot {
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    const slot: Slot = { key, current: undefined, events: undefined, used: false };
    this.#byKey.set(key, slot);
    this.#insert(slot);
    return slot;
  }

  /** The only way to change `current`: the blocks count the living. */
  setCurrent(slot: Slot, entry: Entry | undefined): void {
    const change = Number(entry !== undefined) - Number(slot.current !== undefined);
    this.#bytes += (entry?.value.length ?? 0) - (slot.current?.value.length ?? 0);
    slot.current = entry;
    if (change === 0) return;
    const block = this.#blocks[this.#blockOf(slot.key)];
    if (block !== undefined) block.live += change;
  }

  /** Only for slots without a current entry. */
  remove(slot: Slot): void {
    const at = this.#blockOf(slot.key);
    const block = this.#blocks[at];
    if (block === undefined || !this.#byKey.delete(slot.key)) return;
    block.slots.splice(lowerBound(block.slots, slot.key), 1);
    if (block.slots.length === 0) this.#blocks.splice(at, 1);
  }

  /** Visits the slots of the range in order until `visit` answers false. */
  walk(range: Range, visit: (slot: Slot) => boolean): void {
    for (let at = this.#blockOf(range.start); at < this.#blocks.length; at++) {
      const slots = this.#blocks[at]?.slots ?? [];
      const first = slots[0];
      if (first === undefined || first.key >= range.end) return;
      for (let i = first.key < range.start ? lowerBound(slots, range.start) : 0; i < slots.length; i++) {
        const slot = slots[i];
        if (slot === undefined || slot.key >= range.end || !visit(slot)) return;
      }
    }
  }

  /** How many keys of the range have a current entry. */
  countLive(range: Range): number {
    return this.#count(range, (block) => block.live, isLive);
  }

  /** How many keys of the range are remembered, living or not. */
  countSlots(range: Range): number {
    return this.#count(range, (block) => block.slots.length, always);
  }

  #count(range: Range, whole: (block: Block) => number, one: (slot: Slot) => boolean): number {
    let count = 0;
    for (let at = this.#blockOf(range.start); at < this.#blocks.length; at++) {
      const block = this.#blocks[at];
      const first = block?.slots[0];
      if (block === undefined || first === undefined || first.key >= range.end) break;
      const last = block.slots[block.slots.length - 1] ?? first;
      if (first.key >= range.start && last.key < range.end) {
        count += whole(block);
        continue;
      }
      const end = lowerBound(block.slots, range.end);
      for (let i = lowerBound(block.slots, range.start); i < end; i++) {
        const slot = block.slots[i];
        if (slot !== undefined && one(slot)) count++;
      }
    }
    return count;
  }

  #insert(slot: Slot): void {
    const at = this.#blockOf(slot.key);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push({ slots: [slot], live: 0 });
      return;
    }
    const position = lowerBound(block.slots, slot.key);
    if (block.slots.length < BLOCK_SIZE) {
      block.slots.splice(position, 0, slot);
      return;
    }
    // Keys that arrive in order leave full blocks behind; all others leave half-full ones.
    const half = position === BLOCK_SIZE ? BLOCK_SIZE : BLOCK_SIZE / 2;
    const upper = block.slots.splice(half);
    if (position < half) block.slots.splice(position, 0, slot);
    else upper.splice(position - half, 0, slot);
    block.live = block.slots.filter(isLive).length;
    this.#blocks.splice(at + 1, 0, { slots: upper, live: upper.filter(isLive).length });
  }

  /** The last block that starts at or before `key`, else the first one. */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[middle]?.slots[0]?.key ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : low - 1;
  }
}

function lowerBound(slots: readonly Slot[], key: string): number {
  let low = 0;
  let high = slots.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((slots[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isLive(slot: Slot): boolean {
  return slot.current !== undefined;
}

function always(): boolean {
  return true;
}
