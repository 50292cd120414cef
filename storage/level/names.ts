import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from './files.ts';

/**
 * Makes the names of LevelDB's logs durable. LevelDB syncs a new log's bytes, but not the folder that holds its
 * name until its next MANIFEST: a power cut between the two may lose the log, with all that was acknowledged
 * from it. Names of tables are durable before a MANIFEST speaks of them.
 */
export class Names {
  readonly #folder: string;
  /** The newest log whose name is durable, and how long it is: what makes it longer is in it. */
  #log: { readonly path: string; size: number } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Call it after every write, with one write at a time. Resolves when the name of the log that the write went to
   * would survive a power cut; undefined when it would already.
   */
  settle(): Promise<void> | undefined {
    return this.#grown() ? undefined : this.#sync();
  }

  /** After a write that nobody wants to be durable. */
  pass(): void {
    if (!this.#grown()) this.#log = undefined;
  }

  /** Not asynchronous: it takes microseconds, less than a turn of the thread pool, and is needed for each batch. */
  #grown(): boolean {
    if (this.#log === undefined) return false;
    const size = statSync(this.#log.path, { throwIfNoEntry: false })?.size ?? 0;
    const grown = size > this.#log.size;
    this.#log.size = size;
    return grown;
  }

  async #sync(): Promise<void> {
    const newest = newestLog(readdirSync(this.#folder));
    await syncDirectory(this.#folder);
    if (newest === undefined) return;
    const path = join(this.#folder, newest);
    this.#log = { path, size: statSync(path).size };
  }
}

function newestLog(names: readonly string[]): string | undefined {
  let newest: string | undefined;
  for (const name of names) {
    if (!name.endsWith('.log')) continue;
    if (newest === undefined || Number.parseInt(name, 10) > Number.parseInt(newest, 10)) newest = name;
  }
  return newest;
}
