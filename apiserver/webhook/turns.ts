import { Slots } from '../../kube/slots.ts';

/** So many at a time for each logical cluster, the others in the order in which they came: nobody waits for another's. */
export class Turns {
  readonly #most: number;
  /** Of those that have any taken. */
  readonly #slots = new Map<string, Slots>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects with the signal's reason where that aborts before it is one's turn. */
  async run<T>(cluster: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const slots = this.#slots.get(cluster) ?? new Slots(this.#most);
    this.#slots.set(cluster, slots);
    const release = await slots.take(signal);
    try {
      return await work();
    } finally {
      release();
      if (slots.areIdle) this.#slots.delete(cluster);
    }
  }
}
