import { isOnDisk } from '../residency.ts';
import type { Entry } from '../store.ts';
import type { Versions } from '../versions.ts';
import type { Disk } from './disk.ts';
import { corrupt } from './errors.ts';

const CHUNK = 500;

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
    const first = entries.findIndex(isOnDisk);
    if (first < 0) return entries;
    const result = [...entries];
    for (let from = first; from < result.length; from += CHUNK) {
      const missing = result.slice(from, from + CHUNK).filter(isOnDisk);
      const found = (await this.#disk.values(missing)).values();
      for (let i = from; i < Math.min(from + CHUNK, result.length); i++) {
        const entry = result[i];
        if (entry === undefined || !isOnDisk(entry)) continue;
        const whole = found.next().value;
        if (whole !== undefined) result[i] = whole;
        else if (this.#versions.get(entry.key)?.revision === entry.revision) throw this.#lost(entry);
        else return undefined;
      }
    }
    return result;
  }

  #lost({ key, revision }: Entry): Error {
    return corrupt(this.#disk.directory, `the record of ${key} at revision ${revision} is gone`);
  }
}
