import { isOnDisk } from '../residency.ts';
import type { Entry } from '../store.ts';
import { pacer } from '../turns.ts';
import type { Versions } from '../versions.ts';
import type { Disk } from './disk.ts';
import { corrupt } from './errors.ts';

/**
 * Read at once. Few: where much memory is in buffers V8 searches its heap for milliseconds at each new one, and those of
 * one read come without a turn between them.
 */
const CHUNK = 16;

/** Reads the values that are on disk only, each checked against its checksum. */
export class Values {
  readonly #disk: Disk;
  readonly #versions: Versions;

  constructor(disk: Disk, versions: Versions) {
    this.#disk = disk;
    this.#versions = versions;
  }

  /** The current entry of a key, which is in memory from now on. Fails with `corrupt` or `unavailable`. */
  async current(key: string): Promise<Entry | undefined> {
    for (let missed = 0; ; ) {
      const entry = this.#versions.get(key);
      if (entry === undefined || !isOnDisk(entry)) return entry;
      const [whole] = await this.#disk.values([entry]);
      if (whole !== undefined) this.#versions.fill(whole);
      // Written meanwhile, and its old record compacted: then memory has another revision by now.
      else if (missed === entry.revision) throw this.#lost(entry);
      else missed = entry.revision;
    }
  }

  /** The same entries with their values; they do not stay in memory. Undefined: one was compacted meanwhile. */
  async all(entries: readonly Entry[]): Promise<readonly Entry[] | undefined> {
    const result: Entry[] = [];
    const pace = pacer();
    for (let from = 0; from < entries.length; from += CHUNK) {
      const chunk = entries.slice(from, from + CHUNK);
      const missing = chunk.filter(isOnDisk);
      const found = missing.length === 0 ? missing.values() : (await this.#disk.values(missing)).values();
      for (const entry of chunk) {
        const whole = isOnDisk(entry) ? found.next().value : entry;
        if (whole !== undefined) result.push(whole);
        else if (this.#versions.get(entry.key)?.revision === entry.revision) throw this.#lost(entry);
        else return undefined;
      }
      await pace();
    }
    return result;
  }

  #lost({ key, revision }: Entry): Error {
    return corrupt(this.#disk.directory, `the record of ${key} at revision ${revision} is gone`);
  }
}
