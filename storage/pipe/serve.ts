import type { Duplex } from 'node:stream';
import type { ListOptions, Range, Store } from '../store.ts';
import { writeError } from './errors.ts';
import { type Cursor, Frames } from './frames.ts';
import { HeldLeases } from './leases.ts';
import { sendList } from './lists.ts';
import { Ask, Tell, VERSION } from './ops.ts';
import { Outbox } from './outbox.ts';
import { Push } from './push.ts';
import { readNumber, readRange, readWriteOptions } from './questions.ts';
import { type Asked, seldomAsked } from './seldom.ts';
import { keptCopy } from './slab.ts';
import { BACKLOG_BYTES, ServedWatches } from './watches.ts';

/** While nothing is written, nobody else says that history was forgotten. */
const LOOK_MS = 1000;
const ALL: Range = { start: '', end: '\x7f' };

/**
 * Answers what comes over `channel` (binary, both ways) from `store` until the channel ends; then every watch and
 * every pending answer of it is let go. Leases are not: who loses its channel may still act by them, and they end by
 * themselves. `closed` resolves then, and never rejects. What is no frame ends the channel.
 */
export function serveStore(store: Store, channel: Duplex): Served {
  const server = new Server(store, channel);
  server.start();
  return { closed: server.closed, died: () => server.died() };
}

export interface Served {
  readonly closed: Promise<void>;
  /** The process at the other end has ended: nobody has to wait for its leases. Never rejects. */
  died(): Promise<void>;
}

class Server {
  readonly #store: Store;
  readonly #channel: Duplex;
  readonly #box: Outbox;
  readonly #push: Push;
  readonly #watches: ServedWatches;
  readonly #leases = new HeldLeases();
  readonly #frames = new Frames();
  readonly closed: Promise<void>;
  #resolveClosed = (): void => {};
  #look: NodeJS.Timeout | undefined;
  #over = false;

  constructor(store: Store, channel: Duplex) {
    this.#store = store;
    this.#channel = channel;
    this.#box = new Outbox(channel, () => {
      // Who does not read has no use for revisions.
      if (this.#push.open || this.#box.backlog < BACKLOG_BYTES) this.#push.settle();
    });
    this.#push = new Push(store, this.#box);
    const tell = (op: number, id: number, body?: () => void): void => this.#tell(op, id, body);
    this.#watches = new ServedWatches(store, { box: this.#box, push: this.#push, tell });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  start(): void {
    this.#tell(Tell.hello, VERSION);
    this.#box.flush();
    void this.#note();
    this.#look = setInterval(() => this.#box.touch(), LOOK_MS);
    this.#look.unref();
    this.#channel.on('data', this.#onData);
    for (const end of ['end', 'close', 'error']) this.#channel.on(end, this.#letGo);
    if (this.#channel.destroyed) this.#letGo();
  }

  async died(): Promise<void> {
    this.#letGo();
    await this.#leases.releaseAll();
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      this.#frames.feed(chunk, (frame) => {
        if (!this.#over) this.#handle(frame);
      });
    } catch (error) {
      this.#channel.destroy(error instanceof Error ? error : new Error(String(error)));
      this.#letGo();
    }
  };

  readonly #letGo = (): void => {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#look);
    this.#box.stop();
    this.#watches.stop();
    // After an end there may be an error: somebody has to listen.
    if (!this.#channel.destroyed) this.#channel.destroy();
    this.#resolveClosed();
  };

  /** Notes each commit, so that the other side hears of the revision also when it watches nothing of it. */
  async #note(): Promise<void> {
    const again = (): void => {
      if (!this.#over) setImmediate(() => void this.#note());
    };
    try {
      const stop = await this.#store.watch(ALL, {
        after: this.#store.revision,
        sink: () => this.#box.touch(),
        onEnd: ({ code }) => {
          if (code !== 'closed') again();
        },
      });
      this.#watches.onStop(stop);
    } catch {
      // The store is closed: whatever is asked of it says so.
    }
  }

  #tell(op: number, id: number, body?: () => void): void {
    if (this.#over) return;
    this.#push.settle();
    const { out } = this.#box;
    out.begin(op, id);
    body?.();
    out.end();
    this.#box.touch();
  }

  #handle(frame: Cursor): void {
    const op = frame.u8();
    const id = frame.u32();
    const work = this.#read(op, id, frame);
    frame.done();
    if (work === undefined) return;
    this.#answer(id, work);
  }

  #answer(id: number, work: () => Promise<void>): void {
    const fail = (error: unknown): void => this.#tell(Tell.error, id, () => writeError(this.#box.out, error));
    try {
      work().catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  /** What was asked for: to be done when the whole frame was read. */
  #read(op: number, id: number, frame: Cursor): (() => Promise<void>) | undefined {
    switch (op) {
      case Ask.get:
        return this.#get(id, frame);
      case Ask.list:
        return this.#list(id, frame);
      case Ask.create:
      case Ask.update:
      case Ask.delete:
        return this.#write(op, id, frame);
      case Ask.watch:
        return this.#watches.begin(id, readRange(frame), frame.f64());
      case Ask.stop:
        this.#watches.end(id);
        return undefined;
      default:
        return seldomAsked(op, frame, this.#asked(id));
    }
  }

  #asked(id: number): Asked {
    return {
      store: this.#store,
      leases: this.#leases,
      out: this.#box.out,
      tell: (op, body) => this.#tell(op, id, body),
    };
  }

  #get(id: number, frame: Cursor): () => Promise<void> {
    const key = frame.string();
    const revision = readNumber(frame);
    return async () => {
      const entry = await this.#store.get(key, revision === undefined ? undefined : { revision });
      if (entry === undefined) this.#tell(Tell.nothing, id);
      else this.#tell(Tell.entry, id, () => this.#box.out.entry(entry));
    };
  }

  #list(id: number, frame: Cursor): () => Promise<void> {
    const range = readRange(frame);
    const revision = readNumber(frame);
    const limit = readNumber(frame);
    const after = frame.u8() === 0 ? undefined : frame.string();
    const options: ListOptions = {
      ...(revision !== undefined && { revision }),
      ...(limit !== undefined && { limit }),
      ...(after !== undefined && { after }),
    };
    return async () => {
      const result = await this.#store.list(range, options);
      await sendList(this.#box, result, (op, body) => this.#tell(op, id, body));
    };
  }

  #write(op: number, id: number, frame: Cursor): () => Promise<void> {
    const store = this.#store;
    const { out } = this.#box;
    const options = readWriteOptions(frame);
    const key = frame.string();
    const expected = op === Ask.create ? 0 : frame.f64();
    if (op === Ask.delete) {
      return async () => {
        const entry = await store.delete(key, expected, options);
        this.#tell(Tell.entry, id, () => out.entry(entry));
      };
    }
    // The store keeps it.
    const value = keptCopy(frame.value());
    return async () => {
      const writing =
        op === Ask.create ? store.create(key, value, options) : store.update(key, value, expected, options);
      const { revision, created } = await writing;
      this.#tell(Tell.written, id, () => {
        out.f64(revision);
        out.f64(created);
      });
    };
  }
}
