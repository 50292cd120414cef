import { setTimeout as sleep } from 'node:timers/promises';
import { prefixRange, type Range, type Store, StoreError } from '../../storage/store.ts';
import type { Input, Output } from './history.ts';
import { changeOf, decodeValue, digestOf, encodeValue, named, type Recorder } from './journal.ts';
import { Random } from './random.ts';

export interface Load {
  readonly seed: number;
  /** Tells this life of the store from others; part of every id and value. */
  readonly life: string;
  readonly writers: number;
  readonly hotKeys: number;
  readonly coldKeys: number;
  readonly watchers: number;
  /** The largest value. */
  readonly valueBytes: number;
  /** The revision that somebody already knows everything up to. */
  readonly after: number;
}

export const ALL: Range = { start: '/', end: '0' };

/** Clients of a store that tell the recorder all they ask and are told, until the signal aborts. */
export class Clients {
  readonly #store: Store;
  readonly #load: Load;
  readonly #record: Recorder;
  readonly #signal: AbortSignal;
  /** What anybody was last told of a key: its revision, or 0 for absent. */
  readonly #known = new Map<string, number>();
  /** The running watches, with the revision that each was told last. */
  readonly #live = new Map<string, number>();
  #next = 0;
  /** How many writes were acknowledged, and how many refused or failed. */
  acknowledged = 0;
  refused = 0;
  onAcknowledged: (() => void) | undefined;

  constructor(store: Store, load: Load, record: Recorder, signal: AbortSignal) {
    this.#store = store;
    this.#load = load;
    this.#record = record;
    this.#signal = signal;
  }

  /** Resolves when all clients stopped. */
  async run(): Promise<void> {
    const { writers, watchers, after } = this.#load;
    const all = this.#watch('all', ALL, after);
    await Promise.all([
      all,
      ...Array.from({ length: writers }, (_, i) => this.#writer(i)),
      ...Array.from({ length: watchers }, (_, i) => this.#watcher(i)),
      this.#lister(),
      this.#marker(),
    ]);
  }

  async #writer(index: number): Promise<void> {
    const random = new Random(this.#load.seed, 1000 + index);
    while (!this.#signal.aborted) {
      const hot = random.chance(0.6);
      const { hotKeys, coldKeys } = this.#load;
      const key = hot ? `/hot/${random.below(hotKeys)}` : `/cold/${random.below(coldKeys)}`;
      if ((await this.#call(key, this.#choose(key, random))) === 'closed') return;
    }
  }

  #choose(key: string, random: Random): Input {
    const known = this.#known.get(key);
    const value = `${this.#load.life}.${this.#next}`;
    if (known === undefined || random.chance(0.15)) return { op: 'get' };
    if (known === 0 || random.chance(0.05)) return { op: 'create', value };
    const expected = random.chance(0.95) ? known : Math.max(1, known - random.below(10));
    return random.chance(0.15) ? { op: 'delete', expected } : { op: 'update', value, expected };
  }

  async #call(key: string, input: Input): Promise<string | undefined> {
    const id = `${this.#load.life}.${this.#next++}`;
    this.#record(['call', id, key, input]);
    try {
      const output = await this.#ask(key, input);
      this.#record(['done', id, output]);
      this.#learn(key, input, output);
      return undefined;
    } catch (error) {
      const code = error instanceof StoreError ? error.code : String(error);
      this.#record(['lost', id, code]);
      this.#known.delete(key);
      this.refused++;
      // As clients do, a moment later; a refusal is immediate.
      await sleep(15);
      return code;
    }
  }

  async #ask(key: string, input: Input): Promise<Output> {
    const store = this.#store;
    try {
      if (input.op === 'get') {
        const entry = await store.get(key);
        if (entry === undefined) return { result: 'absent' };
        return { result: 'found', revision: entry.revision, value: decodeValue(entry.value) };
      }
      if (input.op === 'delete') {
        return { result: 'ok', revision: (await store.delete(key, input.expected)).revision };
      }
      const value = encodeValue(input.value, this.#size(input.value));
      const entry =
        input.op === 'create'
          ? await store.create(key, value)
          : await store.update(key, value, input.expected);
      return { result: 'ok', revision: entry.revision };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === 'missing') return { result: 'missing' };
      if ((error.code !== 'exists' && error.code !== 'conflict') || error.current === undefined) throw error;
      const { revision, value } = error.current;
      return { result: error.code, revision, value: decodeValue(value) };
    }
  }

  #size(value: string): number {
    return new Random(this.#load.seed, Number(value.split('.').at(-1))).between(30, this.#load.valueBytes);
  }

  #learn(key: string, input: Input, output: Output): void {
    const gone = !('revision' in output) || (output.result === 'ok' && input.op === 'delete');
    this.#known.set(key, gone ? 0 : output.revision);
    if (output.result !== 'ok') return;
    this.acknowledged++;
    this.onAcknowledged?.();
  }

  /** Watches one range after another, each for a while, some resumed where the last one stopped. */
  async #watcher(index: number): Promise<void> {
    const random = new Random(this.#load.seed, 2000 + index);
    const { hotKeys } = this.#load;
    const range = prefixRange(
      random.pick(['/hot/', `/hot/${random.below(hotKeys)}`, '/cold/', `/cold/${random.below(10)}`, '/']),
    );
    let after = this.#load.after;
    for (let turn = 0; !this.#signal.aborted; turn++) {
      if (random.chance(0.3)) {
        const { compacted, revision } = this.#store;
        after = random.between(compacted, revision);
      }
      after = await this.#watch(`${index}.${turn}`, range, after, random.between(5, 60));
    }
  }

  /** Answers the revision up to which the watch was told everything. */
  async #watch(name: string, range: Range, after: number, ms?: number): Promise<number> {
    const id = `${this.#load.life}.w${name}`;
    let told = after;
    this.#record(['watch', id, range.start, range.end, after]);
    const over = new AbortController();
    try {
      const stop = await this.#store.watch(range, {
        after,
        sink: (events) => {
          for (const event of events) {
            this.#record(['event', id, changeOf(event)]);
            told = event.entry.revision;
            if (this.#live.has(id)) this.#live.set(id, told);
          }
        },
        onEnd: (reason) => {
          this.#record(['note', `watch ${id} ended: ${reason.message}`]);
          over.abort();
        },
      });
      this.#live.set(id, told);
      const signal = AbortSignal.any([over.signal, this.#signal]);
      await sleep(ms ?? 1 << 30, undefined, { signal }).catch(() => {});
      stop();
    } catch (error) {
      this.#record(['note', `watch ${id} was refused: ${String(error)}`]);
      await sleep(5);
      return this.#store.revision;
    } finally {
      this.#live.delete(id);
    }
    return told;
  }

  /** Bookmarks as the API server makes them: what was committed by the last tick was told by this one. */
  async #marker(): Promise<void> {
    let last = new Set<string>();
    let revision = 0;
    while (!this.#signal.aborted) {
      for (const id of last) {
        const told = this.#live.get(id);
        if (told !== undefined) this.#record(['mark', id, Math.max(told, revision)]);
      }
      last = new Set(this.#live.keys());
      revision = this.#store.revision;
      await sleep(25);
    }
  }

  async #lister(): Promise<void> {
    const random = new Random(this.#load.seed, 3000);
    for (let n = 0; !this.#signal.aborted; n++) {
      await sleep(random.between(1, 20));
      const { compacted, revision } = this.#store;
      const range = prefixRange(random.pick(['/hot/', '/cold/', `/cold/${random.below(10)}`, '/']));
      const at = random.chance(0.5) ? random.between(compacted, revision) : undefined;
      await list(this.#store, `${this.#load.life}.l${n}`, range, at, this.#record, random.between(10, 500));
    }
  }
}

/** A list by pages, all at one revision. */
export async function list(
  store: Store,
  id: string,
  range: Range,
  at: number | undefined,
  record: Recorder,
  limit = 500,
): Promise<void> {
  record(['list', id, range.start, range.end, at ?? null]);
  const entries = [];
  let revision = at;
  let after: string | undefined;
  try {
    for (let more = true; more; ) {
      const page = await store.list(range, {
        limit,
        ...(after !== undefined && { after }),
        ...(revision !== undefined && { revision }),
      });
      ({ revision, more } = page);
      entries.push(...page.entries.map(named));
      after = page.entries.at(-1)?.key;
    }
  } catch (error) {
    record(['lost', id, error instanceof StoreError ? error.code : String(error)]);
    return;
  }
  if (revision !== undefined) record(['listed', id, revision, digestOf(entries)]);
}
