import type { KeyIndex, Slot } from './key-index.ts';
import type { Entry } from './store.ts';

/**
 * Stands for the value of an entry whose bytes are on disk only. Entries with it never leave a backend; who puts
 * them back reads the record of the entry's revision.
 */
export const ON_DISK: Uint8Array = Object.freeze(Buffer.alloc(0));

export function isOnDisk(entry: Entry | undefined): boolean {
  return entry?.value === ON_DISK;
}

/** How many slots one call looks at, at most: a write must not pay for all that were read before it. */
const MAX_STEPS = 1024;

/**
 * Chooses which current values leave memory: a hand goes round all keys, leaves out once those that were used since
 * it last came by, and takes the others. So what is read now and then stays, and what nobody asks for goes.
 */
export class Hand {
  readonly #index: KeyIndex;
  readonly #budget: number;
  #at = '';

  /** @param budget bytes of current values that may be in memory. */
  constructor(index: KeyIndex, budget: number) {
    this.#index = index;
    this.#budget = budget;
  }

  /** Calls `evict` with slots until the index is within its budget, or it is the next call's turn. */
  turn(evict: (slot: Slot) => void): void {
    let steps = 0;
    for (let rounds = 0; rounds < 3 && steps < MAX_STEPS && this.#index.bytes > this.#budget; rounds++) {
      this.#index.walk({ start: this.#at, end: '\x7f' }, (slot) => {
        if (slot.used) slot.used = false;
        else if (slot.current !== undefined && !isOnDisk(slot.current)) evict(slot);
        this.#at = `${slot.key}\0`;
        return ++steps < MAX_STEPS && this.#index.bytes > this.#budget;
      });
      if (steps < MAX_STEPS && this.#index.bytes > this.#budget) this.#at = '';
    }
  }
}
