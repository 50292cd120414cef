import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { StatusError } from '../../kube/status.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import { translate } from '../registry/errors.ts';

interface Told {
  type: string;
  object: KubeObject;
}

/** Called at once for each event of the store, in order; the answer is awaited in the same order. */
export type Feed = (event: StoreEvent) => (() => Promise<Told[]>) | undefined;

export interface StreamOptions {
  store: Store;
  /** The state that `feed` starts from; events after it are fed. */
  after: number;
  feed: Feed;
  /** What a bookmark is an object of. */
  kind: { kind: string; apiVersion: string };
  bookmarks: boolean;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

const bookmarkMs = 30_000;
/** A reader that is so many events behind is cut off: it resumes from where it was. */
const maxWaiting = 50_000;

/**
 * The body of a watch. Ends at the timeout, when the reader goes, or when it lags too far; ends with an ERROR
 * event when the store cannot go on. One watch of the store over all its keys keeps all kinds in one order.
 */
export async function* watchStream(options: StreamOptions): AsyncIterable<Uint8Array> {
  const queue = new Pending(options.after);
  const ended = new AbortController();
  const end = () => {
    ended.abort();
    queue.wake();
  };
  if (options.signal?.aborted) return;
  options.signal?.addEventListener('abort', end, { once: true });
  const timeout = setTimeout(end, options.timeoutMs);
  const bookmark = setInterval(() => options.bookmarks && queue.bookmark(), bookmarkMs);
  try {
    await options.store.watch(
      { start: '/', end: '0' },
      {
        after: options.after,
        signal: ended.signal,
        sink: (events) => {
          for (const event of events) queue.add(event.entry.revision, options.feed(event));
          if (queue.length > maxWaiting) end();
        },
        onEnd: (reason) => queue.fail(reason),
      },
    );
    while (!ended.signal.aborted) {
      const lines = await queue.next(options.kind);
      if (ended.signal.aborted) return;
      for (const told of lines) yield line(told);
      if (queue.told) return;
    }
  } catch (error) {
    if (!ended.signal.aborted) yield line({ type: 'ERROR', object: toStatus(error) });
  } finally {
    ended.abort();
    clearTimeout(timeout);
    clearInterval(bookmark);
    options.signal?.removeEventListener('abort', end);
  }
}

function toStatus(error: unknown): object {
  return (translate(error, { group: '', resource: '' }, '') as StatusError).toStatus();
}

function line(told: { type: string; object: unknown }): Uint8Array {
  return Buffer.from(`${encodeJson(told)}\n`);
}

type Work = () => Promise<{ type: string; object: unknown }[]>;

/** What is still to be told, in the order of revisions, and a way to wait for more. */
class Pending {
  #work: Work[] = [];
  #taken = 0;
  #bookmark = false;
  #reason: unknown;
  #wake: () => void = () => {};
  /** The newest revision whose events are all in the queue or told. */
  #revision: number;
  #failed = false;
  /** The failure was the last thing told. */
  told = false;

  constructor(after: number) {
    this.#revision = after;
  }

  get length(): number {
    return this.#work.length - this.#taken;
  }

  add(revision: number, work: Work | undefined): void {
    this.#revision = revision;
    if (!work) return;
    this.#work.push(work);
    this.#wake();
  }

  bookmark(): void {
    this.#bookmark = true;
    this.#wake();
  }

  fail(reason: unknown): void {
    this.#reason = reason;
    this.#failed = true;
    this.#wake();
  }

  wake(): void {
    this.#wake();
  }

  /** The next thing to tell; an empty list when woken for nothing. */
  async next(kind: StreamOptions['kind']): Promise<{ type: string; object: unknown }[]> {
    const work = this.#work[this.#taken];
    if (work) {
      this.#taken += 1;
      if (this.#taken > 1024 && this.#taken * 2 > this.#work.length) {
        this.#work = this.#work.slice(this.#taken);
        this.#taken = 0;
      }
      return await work();
    }
    if (this.#failed) {
      this.told = true;
      return [{ type: 'ERROR', object: toStatus(this.#reason) }];
    }
    if (this.#bookmark) {
      this.#bookmark = false;
      const object = { ...kind, metadata: { resourceVersion: String(this.#revision) } };
      return [{ type: 'BOOKMARK', object }];
    }
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = () => {};
    return [];
  }
}
