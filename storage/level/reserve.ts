import { statfs } from 'node:fs/promises';
import { StoreError } from '../store.ts';

const INTERVAL_MS = 1000;

/** Tells early that the disk fills up: refused writes are better than failed ones. Deletes stay possible. */
export class Reserve {
  readonly #directory: string;
  readonly #bytes: number;
  #low = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking = false;

  constructor(directory: string, bytes: number) {
    this.#directory = directory;
    this.#bytes = bytes;
  }

  /** Throws `full` while less than the reserve is free; by the last look, at most about a second ago. */
  check(now: number): void {
    if (!this.#checking && now - this.#checkedAt >= INTERVAL_MS) this.#look(now);
    if (!this.#low) return;
    const megabytes = Math.round(this.#bytes / (1 << 20));
    throw new StoreError('full', `less than ${megabytes} MiB are free on the disk of ${this.#directory}`);
  }

  #look(now: number): void {
    this.#checking = true;
    this.#checkedAt = now;
    statfs(this.#directory)
      .then(({ bavail, bsize }) => {
        this.#low = bavail * bsize < this.#bytes;
      })
      .catch(() => {
        // A file system that does not tell cannot warn; the failing write will.
      })
      .finally(() => {
        this.#checking = false;
      });
  }
}
