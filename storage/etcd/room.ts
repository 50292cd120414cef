import { StoreError } from '../store.ts';
import type { EtcdLogger } from './options.ts';

/** What came of the last put: of an etcd that is full that is the only sign. The servers' own Leases try all the time. */
export class Room {
  readonly #logger: EtcdLogger | undefined;
  #refusing: string | undefined;

  constructor(logger: EtcdLogger | undefined) {
    this.#logger = logger;
  }

  /** Why creates and updates are refused. */
  get refusing(): string | undefined {
    return this.#refusing;
  }

  /** The same outcome. A deletion that succeeds says nothing of room. */
  async learn<T>(outcome: Promise<T>, isPut: boolean): Promise<T> {
    try {
      const result = await outcome;
      if (isPut) this.#accepted();
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'full') this.#refused(error);
      throw error;
    }
  }

  #accepted(): void {
    if (this.#refusing !== undefined) this.#logger?.info({}, 'creates and updates are accepted again');
    this.#refusing = undefined;
  }

  #refused(err: StoreError): void {
    const message = 'creates and updates are refused, reads go on: etcd is full';
    if (this.#refusing === undefined) this.#logger?.warn({ err }, message);
    this.#refusing = err.message;
  }
}
