import type { ApiResponse } from '../../kube/http.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { StatusError } from '../../kube/status.ts';
import type { Exchange } from '../core.ts';
import { arrange, begun } from '../handlers/watch/lasting.ts';
import { deferred, EventStream, joinBytes } from '../handlers/watch/stream.ts';
import { translate } from '../registry/errors.ts';
import { stream as answer } from './respond.ts';

export interface Told {
  type: string;
  object: KubeObject;
}

/** What is to be told of one event; asked in the order of revisions, one at a time. */
export type Work = () => Told[] | Promise<Told[]>;

/** Where a source puts its events. */
export interface Out {
  add(revision: number, work: Work): void;
  /** The source cannot go on: an ERROR event, and the end. */
  fail(reason: unknown): void;
  /** Pending while a source that can wait should. */
  pause(): Promise<void> | undefined;
}

/** What a watch follows. */
export interface Source {
  /** Where it starts: what came after that revision is told. */
  after: number;
  /** What a bookmark is an object of. */
  kind: { kind: string; apiVersion: string };
  /** Resolves when all history was put into `out`; live events follow until `signal` aborts. */
  start(out: Out, signal: AbortSignal): Promise<void>;
  /** Whether `out` got every visible event. */
  synced(): boolean;
  /** The revision up to which `out` got every event, whether there is more or not. */
  reached(): number;
}

/** A watch of a view, with the deadline, the bookmarks and the rule for slow readers that every watch has. */
export async function watchView(exchange: Exchange, source: Source): Promise<ApiResponse> {
  const { core, info } = exchange;
  const stop = new AbortController();
  const cleanups: (() => void)[] = [() => stop.abort()];
  const cleanUp = () => {
    for (const cleanup of cleanups.splice(0)) cleanup();
  };
  const limits = {
    bufferBytes: core.limits.streamBufferBytes,
    stallMillis: core.limits.stallSeconds * 1000,
    onCut: core.observer && (() => core.observer?.cut()),
  };
  const stream = new EventStream<Uint8Array>(limits, cleanUp, joinBytes);
  const telling = new Telling(stream, source.after);
  const fail = (reason: unknown) => telling.fail(reason);
  const add = (revision: number, work: Work) => telling.add(revision, work);
  await begun(telling, fail, (pause) => source.start({ add, fail, pause }, stop.signal)).catch(fail);
  const mark = (revision: number) => {
    if (revision < telling.last) return;
    const object = { ...source.kind, metadata: { resourceVersion: String(revision) } };
    telling.add(revision, () => [{ type: 'BOOKMARK', object }]);
  };
  const bookmarks = info.query.get('allowWatchBookmarks') === 'true';
  const close = () => {
    if (bookmarks) mark(source.reached());
    telling.end();
  };
  const asked = Number(info.query.get('timeoutSeconds'));
  const seconds = Number.isFinite(asked) && asked > 0 ? asked : 0;
  arrange(exchange, { seconds, close, cleanups, end: () => stream.end() });
  const bookmark = (revision: number) => source.synced() && mark(revision);
  if (bookmarks) cleanups.push(core.bookmarks.add({ bookmark }));
  if (stream.ended) cleanUp();
  return answer(stream);
}

/** Work that waits makes no bytes yet, which the stream could count. */
const fullAt = 500;
const maxWaiting = 50_000;

/** Does the work in order, and puts what it tells into the stream. */
class Telling {
  readonly #stream: EventStream<Uint8Array>;
  #waiting: Work[] = [];
  #left = 0;
  #running = false;
  #room: { promise: Promise<void>; resolve: () => void } | undefined;
  /** The revision of the newest event that was added. */
  last: number;

  constructor(stream: EventStream<Uint8Array>, after: number) {
    this.#stream = stream;
    this.last = after;
  }

  add(revision: number, work: Work): void {
    if (this.#stream.ended) return;
    this.last = revision;
    this.#waiting.push(work);
    if (this.#waiting.length + this.#left > maxWaiting) this.#stream.end();
    else if (!this.#running) void this.#run();
  }

  fail(reason: unknown): void {
    this.add(this.last, () => {
      throw reason;
    });
  }

  /** After all that was added. */
  end(): void {
    this.add(this.last, () => {
      this.#stream.end();
      return [];
    });
  }

  pause(): Promise<void> | undefined {
    if (this.#stream.ended) return undefined;
    if (this.#waiting.length + this.#left < fullAt) return this.#stream.pause();
    this.#room ??= deferred();
    return this.#room.promise;
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiting.length > 0 && !this.#stream.ended) await this.#batch();
    } catch (error) {
      const status = (translate(error, { group: '', resource: '' }, '') as StatusError).toStatus();
      this.#stream.push(line({ type: 'ERROR', object: status }));
      this.#stream.end();
    }
    this.#running = false;
    this.#makeRoom();
  }

  async #batch(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#left = batch.length;
    for (const work of batch) {
      this.#left -= 1;
      for (const told of await work()) this.#stream.push(line(told));
      if (this.#stream.ended) return;
    }
    this.#makeRoom();
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

function line(told: { type: string; object: unknown }): Uint8Array {
  return Buffer.from(`${encodeJson(told)}\n`);
}
