import { randomBytes } from 'node:crypto';

/**
 * A key that every write of one writer changes together with the object. Its value says which write came last, its
 * revision lets a write happen at most once: each names the revision that the one before it left.
 */
export interface Slot {
  readonly name: string;
  /** The revision at which the slot is known to be; 0: it does not exist. */
  revision: number;
}

/** As many slots as there are writes at a time. The names are this process's own. */
export class Slots {
  readonly #free: Slot[] = [];
  readonly #instance = randomBytes(8).toString('hex');
  #slots = 0;
  #writes = 0;

  take(): Slot {
    return this.#free.pop() ?? { name: `writers/${this.#instance}/${this.#slots++}`, revision: 0 };
  }

  /** Only when its revision is known for certain; a slot in doubt is left behind. */
  give(slot: Slot): void {
    this.#free.push(slot);
  }

  /** A value that no other write has. */
  mark(): Uint8Array {
    return Buffer.from(String(++this.#writes));
  }
}
