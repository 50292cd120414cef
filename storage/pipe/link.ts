import type { Duplex } from 'node:stream';
import { type Range, StoreError, type StoreEvent } from '../store.ts';
import { type Call, readAnswer, readEntries } from './answers.ts';
import { asStoreError, readError } from './errors.ts';
import { BadFrame, type Cursor, Frames } from './frames.ts';
import { Ask, Tell, VERSION } from './ops.ts';
import type { Out } from './out.ts';
import { Outbox } from './outbox.ts';
import { type Given, type Listener, readPush } from './pushed.ts';
import type { Seen } from './seen.ts';

/**
 * One end of a pipe to a store: questions and their answers, watches, and what is known of the store. Whole frames
 * are read as they come; a revision is known when all that watches get of it was handed to them.
 */
export class Link {
  readonly #channel: Duplex;
  readonly #box: Outbox;
  readonly #frames = new Frames();
  readonly #calls = new Map<number, Call>();
  readonly #listeners = new Map<number, Listener>();
  readonly #deliver: (given: readonly Given[]) => void;
  #lastId = 0;
  #resolveReady: () => void = () => {};
  #rejectReady: (reason: Error) => void = () => {};
  /** Resolves with the first frame; fails with `unavailable`. */
  readonly ready: Promise<void>;
  revision = 0;
  compacted = 0;
  /** The revision up to which every synced watch has all: in the middle of a push, that before it. */
  told = 0;
  readonly seen: Seen;
  readonly #heard = (event: StoreEvent): void => this.seen.event(event);
  /** Is told once, of why nothing can be asked any more. */
  onOver: (reason: StoreError) => void = () => {};
  #onIdle: () => void = () => {};
  failure: StoreError | undefined;

  /** `deliver` hands watches what they are given, in order. */
  constructor(channel: Duplex, deliver: (given: readonly Given[]) => void, seen: Seen) {
    this.#channel = channel;
    this.seen = seen;
    this.#box = new Outbox(channel);
    this.#deliver = deliver;
    this.ready = new Promise((resolve, reject) => {
      this.#resolveReady = resolve;
      this.#rejectReady = reject;
    });
  }

  start(): void {
    this.#channel.on('data', this.#onData);
    this.#channel.on('error', (cause: Error) => this.#fail(cause));
    for (const end of ['end', 'close']) this.#channel.on(end, () => this.#fail(undefined));
    if (this.#channel.destroyed) this.#fail(undefined);
  }

  /** Resolves when every question that was asked is answered. */
  async idle(): Promise<void> {
    if (this.#calls.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  ask<T>(op: number, body: (out: Out) => void, key = '', value?: Uint8Array): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const id = this.#newId();
      this.#calls.set(id, { resolve, reject, key, value, entries: undefined });
      this.#send(op, id, body);
    });
  }

  /** Begins a watch; answers its number. */
  watch(range: Range, after: number, listener: Listener): number {
    const id = this.#newId();
    this.#listeners.set(id, listener);
    this.#send(Ask.watch, id, (out) => {
      out.string(range.start);
      out.string(range.end);
      out.f64(after);
    });
    return id;
  }

  /** Nothing is told of it any more. */
  stop(id: number): void {
    if (this.#listeners.delete(id)) this.#send(Ask.stop, id, () => {});
  }

  /** Lets go of the channel. Whoever is still there hears `reason`. Resolves when all was sent. */
  async end(reason: StoreError): Promise<void> {
    if (this.failure !== undefined) return;
    this.#box.flush();
    this.#over(reason);
    await new Promise<void>((resolve) => {
      this.#channel.once('close', resolve);
      this.#channel.end(() => this.#channel.destroy());
    });
  }

  #send(op: number, id: number, body: (out: Out) => void): void {
    if (this.failure !== undefined) return;
    const { out } = this.#box;
    out.begin(op, id);
    try {
      body(out);
    } catch (error) {
      out.cancel();
      this.#calls.delete(id);
      this.#listeners.delete(id);
      throw error;
    }
    out.end();
    this.#box.touch();
  }

  #newId(): number {
    do this.#lastId = (this.#lastId + 1) >>> 0;
    while (this.#calls.has(this.#lastId) || this.#listeners.has(this.#lastId));
    return this.#lastId;
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      this.#frames.feed(chunk, (frame) => {
        if (this.failure === undefined) this.#handle(frame);
      });
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      this.#fail(cause);
      this.#channel.destroy();
    }
  };

  #fail(cause: Error | undefined): void {
    if (this.failure !== undefined) return;
    const why = cause === undefined ? 'it ended' : cause.message;
    this.#over(new StoreError('unavailable', `the pipe to the store is gone: ${why}`, { cause }));
    this.#channel.destroy();
  }

  #over(reason: StoreError): void {
    this.failure = reason;
    this.seen.clear();
    this.#box.stop();
    this.#rejectReady(reason);
    const calls = [...this.#calls.values()];
    const listeners = [...this.#listeners.values()];
    this.#calls.clear();
    this.#listeners.clear();
    for (const call of calls) call.reject(reason);
    for (const listener of listeners) listener.ended(reason);
    this.onOver(reason);
    this.#onIdle();
  }

  #handle(frame: Cursor): void {
    const op = frame.u8();
    const id = frame.u32();
    if (op === Tell.push) this.#push(frame);
    else if (op === Tell.hello) this.#hello(id);
    else if (op === Tell.watching) this.#listeners.get(id)?.watching();
    else if (op === Tell.ended || (op === Tell.error && this.#listeners.has(id))) this.#ended(id, frame);
    else this.#answered(op, id, frame);
    frame.done();
  }

  #hello(version: number): void {
    if (version !== VERSION) throw new BadFrame(`version ${version} of its frames, not ${VERSION}`);
    this.#resolveReady();
  }

  #ended(id: number, frame: Cursor): void {
    const error = readError(frame);
    const listener = this.#listeners.get(id);
    this.#listeners.delete(id);
    listener?.ended(asStoreError(error));
  }

  #push(frame: Cursor): void {
    const { revision, compacted, given } = readPush(frame, (id) => this.#listeners.get(id), this.#heard);
    // An etcd that was restored from a backup goes back: what was seen then is of another history.
    if (revision < this.revision) this.seen.clear();
    this.revision = revision;
    this.compacted = compacted;
    if (given.length > 0) this.#deliver(given);
    this.told = this.revision;
  }

  #answered(op: number, id: number, frame: Cursor): void {
    const call = this.#calls.get(id);
    if (call === undefined) return void this.#late(op, id, frame);
    if (op === Tell.part) {
      call.entries = readEntries(frame, call.entries);
      return;
    }
    this.#calls.delete(id);
    if (op === Tell.error) call.reject(readError(frame));
    else call.resolve(readAnswer(op, frame, call) as never);
    if (this.#calls.size === 0) this.#onIdle();
  }

  /** Of a watch that was stopped here meanwhile. */
  #late(op: number, id: number, frame: Cursor): void {
    if (op !== Tell.error) throw new BadFrame(`answer ${op} to question ${id}, which is not asked`);
    readError(frame);
  }
}
