import { setImmediate } from 'node:timers';
import { Aging } from '../aging.ts';
import { commitBounds, Distribution } from '../measures.ts';
import type { Retention } from '../retention.ts';
import { type Entry, StoreError, type StoreEvent } from '../store.ts';
import type { Versions } from '../versions.ts';
import type { WatchHub } from '../watch-hub.ts';
import type { Base } from './base.ts';
import { batchSize, goesAhead } from './batch.ts';
import type { Disk } from './disk.ts';
import { translate } from './errors.ts';
import type { Begun, Chore, Job } from './jobs.ts';
import type { Logger } from './options.ts';
import { reopened } from './reopen.ts';
import type { Watermark } from './watermark.ts';

export interface WriterParts {
  disk: Disk;
  versions: Versions;
  hub: WatchHub;
  base: Base;
  retention: Retention;
  watermark: Watermark;
  logger: Logger | undefined;
}

/**
 * The one writer of a store. Everything accepted while a batch is being made durable goes into the next one,
 * so one wait for the disk serves all writers. For each batch, in this order: durable, visible, acknowledged,
 * watched. After a failed write nothing is accepted until the database was opened again and checked.
 */
export class Writer {
  readonly #parts: WriterParts;
  #base: Base;
  #queue: Job[] = [];
  #chores: Chore[] = [];
  readonly #pending = new Map<string, Promise<Entry>>();
  /** Seconds that each batch took to be durable. */
  readonly commits: Distribution = new Distribution(commitBounds);
  #accepted: number;
  #refusal: StoreError | undefined;
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();
  /** What is forgotten while nobody writes. */
  readonly aging: Aging;

  constructor(parts: WriterParts) {
    const { retention, versions } = parts;
    this.#parts = parts;
    this.aging = new Aging(
      retention.ageMs,
      () => versions.revision > versions.compacted,
      () => this.#retain(performance.now()),
    );
    this.#base = parts.base;
    this.#accepted = parts.versions.revision;
  }

  /** Why writes are refused now. */
  get refusal(): StoreError | undefined {
    return this.#refusal;
  }

  /** The revision that the next accepted write gets. */
  get next(): number {
    return this.#accepted + 1;
  }

  /** How many accepted writes have no outcome yet. */
  get pendings(): number {
    return this.#pending.size;
  }

  /** The accepted write to this key whose outcome is not known yet: there is one at most. */
  pending(key: string): Promise<Entry> | undefined {
    return this.#pending.get(key);
  }

  /** Accepts an event at revision `next`. Its key must have nothing pending. */
  enqueue(event: StoreEvent): Promise<Entry> {
    this.#accepted = event.entry.revision;
    const done = new Promise<Entry>((resolve, reject) => this.#queue.push({ event, resolve, reject }));
    this.#pending.set(event.entry.key, done);
    this.#wake();
    return done;
  }

  /** Forgets history up to `revision`, which is visible, between batches. */
  compact(revision: number): Promise<void> {
    return this.#between(() => this.#compact(revision));
  }

  /** Puts a value that is no record; durable once it resolves. */
  note(key: string, value: Buffer): Promise<void> {
    return this.#between(() => this.#parts.disk.note(key, value));
  }

  /** Resolves when the outcome of everything that was accepted so far is known. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#pending.values()]);
  }

  /** Refuses new writes, then waits for the accepted ones. */
  async close(): Promise<void> {
    this.#refusal = new StoreError('closed', 'the store is closed');
    this.aging.end();
    this.#closing.abort();
    await this.#running;
  }

  #between(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#chores.push({ work, resolve, reject });
      this.#wake();
    });
  }

  /** At the end of this turn of the event loop, so that writes that arrive together share a batch. */
  #wake(): void {
    this.#running ??= new Promise((resolve) => {
      setImmediate(() => {
        resolve(this.#run());
      });
    });
  }

  async #run(): Promise<void> {
    try {
      for (let begun = this.#begin(); ; begun = this.#begin()) {
        // One batch after the other; while one is at the disk, those who waited for the one before go on.
        while (begun !== undefined) begun = await this.#finish(begun);
        const chore = this.#chores.shift();
        if (chore !== undefined) await this.#do(chore);
        else if (this.#queue.length === 0) return;
      }
    } finally {
      this.#running = undefined;
    }
  }

  #begin(ahead = 0): Begun | undefined {
    const batch = this.#queue.splice(0, batchSize(this.#queue, ahead));
    if (batch.length === 0) return undefined;
    const { disk, versions } = this.#parts;
    const began = performance.now();
    const outcome = disk.commit(batch.map((job) => job.event)).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    // From here on there is time: the disk works.
    for (const { event } of batch) versions.expect(event.entry.key);
    return { batch, outcome, began };
  }

  /** Waits for a batch, and answers the next one if it was begun before anybody heard of this one. */
  async #finish({ batch, outcome, began }: Begun): Promise<Begun | undefined> {
    const failure = await outcome;
    this.commits.add((performance.now() - began) / 1000);
    if (failure !== undefined) {
      await this.#fail(failure.error, batch);
      return undefined;
    }
    const ahead = this.#chores.length === 0 && goesAhead(this.#queue.length, batch.length);
    const next = ahead ? this.#begin(batch.length) : undefined;
    this.#settle(batch);
    if (next === undefined) await nextTurn();
    return next;
  }

  /** Durable by now: visible, acknowledged, watched. */
  #settle(batch: readonly Job[]): void {
    const { versions, hub, watermark } = this.#parts;
    const events = batch.map((job) => job.event);
    for (const event of events) versions.apply(event);
    for (const { event, resolve } of batch) {
      this.#pending.delete(event.entry.key);
      resolve(event.entry);
    }
    hub.publish(events);
    const now = performance.now();
    watermark.note(versions.revision, now);
    void this.#retain(now);
    this.aging.wake();
  }

  /** Queues the automatic compaction that is due, unless something is queued; whether it was done. */
  async #retain(now: number): Promise<boolean> {
    if (this.#chores.length > 0 || this.#refusal !== undefined) return false;
    const due = this.#parts.retention.due(now, this.#parts.versions);
    if (due === undefined) return false;
    return await this.compact(due).then(
      () => true,
      () => false,
    );
  }

  async #compact(revision: number): Promise<void> {
    const { disk, versions } = this.#parts;
    const events = versions.compactable(revision);
    if (events.length > 0) this.#base = await disk.forget(this.#base, events, versions.revision);
    versions.compact(revision);
  }

  async #do({ work, resolve, reject }: Chore): Promise<void> {
    try {
      await work();
      resolve();
    } catch (error) {
      reject(translate(error, this.#parts.disk.directory));
      await this.#fail(error, []);
    }
  }

  /** The outcome of `batch` is unknown until the database was read again; what waits behind it builds on it. */
  async #fail(cause: unknown, batch: readonly Job[]): Promise<void> {
    const { disk, versions, logger } = this.#parts;
    const reason = translate(cause, disk.directory);
    logger?.warn(`a write failed, no write is accepted until the store was checked: ${reason.message}`);
    this.#refuse(reason);
    const jobs = [...batch, ...this.#queue.splice(0)];
    for (const chore of this.#chores.splice(0)) chore.reject(reason);
    this.#pending.clear();
    for (const job of jobs) {
      versions.unexpect(job.event.entry.key);
      job.reject(reason);
    }
    await this.#recover();
  }

  async #recover(): Promise<void> {
    const { versions } = this.#parts;
    const base = await reopened(this.#parts, this.#closing.signal, (reason) => this.#refuse(reason));
    if (base === undefined) return;
    this.#base = base;
    this.#accepted = versions.revision;
    this.#refuse(undefined);
    this.#parts.logger?.info(
      `the store was checked and accepts writes again at revision ${versions.revision}`,
    );
  }

  #refuse(reason: StoreError | undefined): void {
    if (this.#refusal?.code !== 'closed') this.#refusal = reason;
  }
}

/** Lets those who were just answered go on, so that their next writes make the next batch. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
