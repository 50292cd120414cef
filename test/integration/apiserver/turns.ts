import type { Entry, ListResult, Store } from '../../../storage/store.ts';

/** A store that is looked at: how many bytes of entries are read for the first time in one turn of the event loop, at most. */
export class Turns {
  readonly store: Store;
  #turn = 0;
  #most = 0;
  readonly #bytes = new Map<number, number>();
  #counting: NodeJS.Immediate | undefined;

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (of, name) => {
        if (name === 'list') {
          return async (...args: Parameters<Store['list']>): Promise<ListResult> => {
            const found = await of.list(...args);
            return { ...found, entries: found.entries.map((entry) => this.#watched(entry)) };
          };
        }
        if (name === 'recent') {
          return (...args: Parameters<NonNullable<Store['recent']>>) =>
            of.recent?.(...args)?.map((entry) => this.#watched(entry));
        }
        const value: unknown = Reflect.get(of, name);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  }

  /** While `work` is done. */
  async mostBytes(work: () => Promise<unknown>): Promise<number> {
    this.#bytes.clear();
    this.#most = 0;
    const tick = () => {
      this.#turn++;
      this.#counting = setImmediate(tick);
    };
    tick();
    try {
      await work();
    } finally {
      clearImmediate(this.#counting);
    }
    return this.#most;
  }

  #watched(entry: Entry): Entry {
    const { key, value, revision, created } = entry;
    let wasRead = false;
    const read = () => {
      if (wasRead) return;
      wasRead = true;
      const bytes = (this.#bytes.get(this.#turn) ?? 0) + value.length;
      this.#bytes.set(this.#turn, bytes);
      this.#most = Math.max(this.#most, bytes);
    };
    return {
      key,
      revision,
      created,
      get value() {
        read();
        return value;
      },
    };
  }
}
