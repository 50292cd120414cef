import { FEW_KEYS } from '../recents.ts';
import type { Entry, ListResult, Range, StoreEvent } from '../store.ts';
import type { Link } from './link.ts';
import type { Listener } from './pushed.ts';

const MAX_MIRRORS = 4096;
/** A range that was too large is not asked for again so soon. */
const RETRY_MS = 10_000;

export type List = (range: Range, options: { limit: number }) => Promise<ListResult>;

/**
 * The newest entries of small ranges that somebody asked for, kept up to date by a watch each. The least used go
 * when there are too many.
 */
export class Mirrors {
  readonly #link: Link;
  readonly #list: List;
  readonly #mirrors = new Map<string, Mirror>();

  constructor(link: Link, list: List) {
    this.#link = link;
    this.#list = list;
  }

  /** Undefined when the range is not known yet, or too large; to ask is to want to know next time. */
  recent(range: Range): readonly Entry[] | undefined {
    const id = `${range.start.length}:${range.start}${range.end}`;
    const mirror = this.#mirrors.get(id);
    if (mirror === undefined) this.#start(id, range);
    else if (mirror.retryAt !== Infinity && mirror.retryAt < performance.now()) this.#restart(id, mirror);
    else {
      mirror.used = true;
      return mirror.entries;
    }
    return undefined;
  }

  stop(): void {
    for (const mirror of this.#mirrors.values()) mirror.stop();
    this.#mirrors.clear();
  }

  #restart(id: string, mirror: Mirror): void {
    this.#drop(id, mirror);
    this.#start(id, mirror.range);
  }

  #start(id: string, range: Range): void {
    if (this.#mirrors.size >= MAX_MIRRORS) this.#evict();
    const mirror = new Mirror(this.#link, range, () => this.#drop(id, mirror));
    this.#mirrors.set(id, mirror);
    void mirror.start(this.#list);
  }

  /** One that was not asked for since the last look; each look forgets that it was. */
  #evict(): void {
    for (const [id, mirror] of this.#mirrors) {
      if (!mirror.used) return void this.#drop(id, mirror);
      mirror.used = false;
      this.#mirrors.delete(id);
      this.#mirrors.set(id, mirror);
    }
  }

  #drop(id: string, mirror: Mirror): void {
    if (this.#mirrors.get(id) === mirror) this.#mirrors.delete(id);
    mirror.stop();
  }
}

class Mirror implements Listener {
  readonly first = true;
  readonly range: Range;
  readonly #link: Link;
  readonly #onEnd: () => void;
  used = true;
  /** When it may be tried again; Infinity for one that works. */
  retryAt = Infinity;
  #known: readonly Entry[] = [];
  #synced = false;
  #watch = 0;
  #over = false;

  constructor(link: Link, range: Range, onEnd: () => void) {
    this.#link = link;
    this.range = range;
    this.#onEnd = onEnd;
  }

  /** By key. Undefined while it may lack something. */
  get entries(): readonly Entry[] | undefined {
    return this.#synced ? this.#known : undefined;
  }

  async start(list: List): Promise<void> {
    try {
      const { entries, revision, more } = await list(this.range, { limit: FEW_KEYS });
      if (this.#over) return;
      if (more || entries.length >= FEW_KEYS) return this.#tooLarge();
      this.#known = entries.map(copyOf);
      this.#watch = this.#link.watch(this.range, revision, this);
    } catch {
      // Whoever asks next tries again, and hears from `list` what is wrong.
      this.#onEnd();
    }
  }

  stop(): void {
    this.#over = true;
    this.#synced = false;
    this.#link.stop(this.#watch);
  }

  hears(watch: number): boolean {
    return watch === this.#watch;
  }

  events(batch: readonly StoreEvent[]): void {
    // Whoever was given the entries keeps them as they were.
    const entries = [...this.#known];
    for (const event of batch) apply(entries, event);
    this.#known = entries;
    if (entries.length >= FEW_KEYS) this.#tooLarge();
  }

  synced(yes: boolean): void {
    this.#synced = yes && !this.#over;
  }

  watching(): void {}

  ended(): void {
    this.#onEnd();
  }

  #tooLarge(): void {
    this.stop();
    this.#known = [];
    this.retryAt = performance.now() + RETRY_MS;
  }
}

function apply(entries: Entry[], { type, entry }: StoreEvent): void {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.key ?? '') < entry.key) low = middle + 1;
    else high = middle;
  }
  const there = entries[low]?.key === entry.key ? 1 : 0;
  if (type === 'put') entries.splice(low, there, copyOf(entry));
  else entries.splice(low, there);
}

/** It stays long after everything else that came with it. */
function copyOf(entry: Entry): Entry {
  const value = Buffer.allocUnsafeSlow(entry.value.length);
  value.set(entry.value);
  return { ...entry, value };
}
