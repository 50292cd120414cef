import type { Lease } from '../store.ts';

/** Leases that somebody at the other end of a pipe holds, by number. */
export class HeldLeases {
  readonly #held = new Map<number, Lease>();
  #next = 0;
  #isOver = false;

  hold(lease: Lease): number {
    const number = ++this.#next;
    if (this.#isOver) void lease.release().catch(() => undefined);
    else this.#held.set(number, lease);
    return number;
  }

  async keepAlive(number: number): Promise<boolean> {
    const held = (await this.#held.get(number)?.keepAlive()) ?? false;
    if (!held) this.#held.delete(number);
    return held;
  }

  async release(number: number): Promise<boolean> {
    const lease = this.#held.get(number);
    this.#held.delete(number);
    await lease?.release();
    return false;
  }

  /** Those that are held, and those that are still on their way. */
  async releaseAll(): Promise<void> {
    this.#isOver = true;
    const held = [...this.#held.values()];
    this.#held.clear();
    // One that cannot be released ends by itself.
    await Promise.allSettled(held.map((lease) => lease.release()));
  }
}
