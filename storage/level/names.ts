import { statSync } from 'node:fs';
import { syncDirectory } from './files.ts';

/** Longer than the clock that stamps files takes for a step, anywhere: up to 10 ms on Linux. */
const CLOCK_STEP_MS = 50;

/**
 * Makes the names of LevelDB's files durable. LevelDB syncs a new log's bytes, but not the folder that holds its
 * name until its next MANIFEST: a power cut between the two may lose the log, with all that was acknowledged
 * from it. A folder's modification time tells when that matters, which is once per log or table.
 */
export class Names {
  readonly #folder: string;
  #durable = -1n;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves when every name that is in the folder now would survive a power cut. */
  async settle(): Promise<void> {
    // Not asynchronous: it takes microseconds, less than a turn of the thread pool, and is needed for each batch.
    const { mtimeNs } = statSync(this.#folder, { bigint: true });
    if (mtimeNs === this.#durable) return;
    await syncDirectory(this.#folder);
    const age = Date.now() - Number(mtimeNs / 1_000_000n);
    // A change within the same step of the clock would not show.
    if (age > CLOCK_STEP_MS) this.#durable = mtimeNs;
  }
}
