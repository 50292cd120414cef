import type { KeyIndex } from './key-index.ts';
import { isOnDisk } from './residency.ts';
import { currentOf } from './slot.ts';
import { type Entry, prefixRange, type Range } from './store.ts';

/** As many as are collected for somebody who does not wait. */
export const FEW_KEYS = 256;
const MOST_LISTS = 8192;
/** What is remembered stays in memory, whatever else is put on disk. */
const REMEMBERED_KEYS = 8;

/**
 * The newest entries of ranges that every request asks for, and in which there is mostly nothing. What was found stays
 * true until a key of the range changes, however much is written elsewhere.
 */
export class Recents {
  readonly #index: KeyIndex;
  /** Of ranges that are all keys with a prefix which ends in a slash: by that prefix. */
  readonly #lists = new Map<string, readonly Entry[]>();

  constructor(index: KeyIndex) {
    this.#index = index;
  }

  /** Undefined where there are many, or some are on disk. */
  list(range: Range): readonly Entry[] | undefined {
    if (isOneKey(range)) return this.#one(range.start);
    const isRemembered = range.start.endsWith('/') && prefixRange(range.start).end === range.end;
    const known = isRemembered ? this.#lists.get(range.start) : undefined;
    if (known !== undefined) return known;
    const entries = this.#find(range);
    if (isRemembered && entries !== undefined && entries.length <= REMEMBERED_KEYS) {
      if (this.#lists.size >= MOST_LISTS) this.#lists.clear();
      this.#lists.set(range.start, entries);
    }
    return entries;
  }

  /** To be told of each key whose current entry becomes another one. */
  changed(key: string): void {
    if (this.#lists.size === 0) return;
    for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1))
      this.#lists.delete(key.slice(0, at + 1));
  }

  #one(key: string): readonly Entry[] | undefined {
    const slot = this.#index.find(key);
    const entry = slot && currentOf(slot);
    if (slot === undefined || entry === undefined) return [];
    slot.used = true;
    return isOnDisk(entry) ? undefined : [entry];
  }

  #find(range: Range): readonly Entry[] | undefined {
    const entries: Entry[] = [];
    let seen = 0;
    this.#index.walk(range, (slot) => {
      const entry = currentOf(slot);
      slot.used = true;
      if (entry !== undefined && !isOnDisk(entry)) entries.push(entry);
      else if (entry !== undefined) seen = FEW_KEYS;
      return ++seen < FEW_KEYS;
    });
    return seen < FEW_KEYS ? entries : undefined;
  }
}

function isOneKey({ start, end }: Range): boolean {
  return end.length === start.length + 1 && end.charCodeAt(start.length) === 0 && end.startsWith(start);
}
