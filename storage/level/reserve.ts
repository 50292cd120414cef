import { statfs } from 'node:fs/promises';
import { StoreError } from '../store.ts';

const INTERVAL_MS = 1000;

export interface ReserveParts {
  readonly directory: string;
  readonly bytes: number;
  readonly logger?: { info(message: string): void; warn(message: string): void } | undefined;
  /** How many bytes are free on the disk of a directory. */
  readonly free?: ((directory: string) => Promise<number>) | undefined;
}

/**
 * Tells early that the disk fills up: refused writes are better than failed ones. Deletes stay possible. It looks when
 * somebody writes, once a second at most; while there is too little it looks by itself, so that the end is told, too.
 */
export class Reserve {
  readonly #parts: ReserveParts;
  #low = false;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(parts: ReserveParts) {
    this.#parts = parts;
  }

  /** Why creates and updates are refused, by the last look. */
  get refusing(): string | undefined {
    return this.#low ? `less than ${mebibytes(this.#parts.bytes)} are free on the disk` : undefined;
  }

  /** Throws `full` while less than the reserve is free; by the last look, at most about a second ago. */
  check(now: number): void {
    if (this.#checking === undefined && now - this.#checkedAt >= INTERVAL_MS) void this.look(now);
    if (this.#low) throw new StoreError('full', `${this.refusing} of ${this.#parts.directory}`);
  }

  /** Resolves when the answer is known. A file system that does not tell cannot warn; the failing write will. */
  async look(now: number): Promise<void> {
    this.#checkedAt = now;
    const { directory, free = freeBytes } = this.#parts;
    this.#checking = free(directory).then(
      (bytes) => this.#learn(bytes),
      () => {},
    );
    await this.#checking;
    this.#checking = undefined;
  }

  stop(): void {
    clearTimeout(this.#again);
  }

  #learn(free: number): void {
    const { bytes, directory, logger } = this.#parts;
    const before = this.#low;
    this.#low = free < bytes;
    if (this.#low) {
      this.stop();
      this.#again = setTimeout(() => void this.look(performance.now()), INTERVAL_MS).unref();
    }
    if (this.#low === before) return;
    const there = `${mebibytes(free)} are free on the disk of ${directory}, ${mebibytes(bytes)} are its reserve`;
    if (this.#low) logger?.warn(`creates and updates are refused, reads and deletes go on: ${there}`);
    else logger?.info(`creates and updates are accepted again: ${there}`);
  }
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / (1 << 20))} MiB`;
}
