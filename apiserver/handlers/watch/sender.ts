import { isStatusError } from '../../../kube/status.ts';
import type { Entry, StoreEvent } from '../../../storage/store.ts';
import type { EventStream } from './stream.ts';
import type { WatchTeller } from './teller.ts';

/** Where a watch begins. */
export interface Begin {
  /** What the client is shown first. */
  entries: readonly Entry[];
  /** The store is watched from here on. */
  after: number;
  /** Events up to here are passed over. */
  skipTo: number;
}

/** Hands a watch's reader what the teller makes of events, in their order. */
export class Sender<T extends { readonly length: number }, Batch> {
  readonly #stream: EventStream<T, Batch>;
  readonly #teller: WatchTeller<T>;
  readonly #told: { count: number };
  #last = 0;
  #skipTo = 0;
  #synced = false;

  /** @param told counts what is handed over. */
  constructor(stream: EventStream<T, Batch>, teller: WatchTeller<T>, told = { count: 0 }) {
    this.#stream = stream;
    this.#teller = teller;
    this.#told = told;
  }

  /** @param mark whether the end of what was there is told. */
  begin(begin: Begin, mark: boolean): void {
    this.#last = begin.after;
    this.#skipTo = begin.skipTo;
    this.#stream.begin(head(this.#teller, begin, mark, this.#told));
  }

  deliver(events: readonly StoreEvent[]): void {
    for (const event of events) {
      if (event.entry.revision <= this.#skipTo) continue;
      const told = this.#teller.event(event);
      if (told === undefined) continue;
      this.#last = event.entry.revision;
      this.#told.count++;
      this.#stream.push(told);
    }
  }

  synced(yes: boolean): void {
    this.#synced = yes;
  }

  bookmark(revision: number): void {
    // A reader that lags has not got everything up to there.
    if (revision < this.#last || !this.#synced) return;
    this.#last = revision;
    this.#told.count++;
    this.#stream.push(this.#teller.bookmark(revision));
  }

  progress(revision: number): void {
    this.bookmark(revision);
  }

  finish(reason: Error | undefined): void {
    if (reason !== undefined && isStatusError(reason)) this.#stream.push(this.#teller.error(reason));
    this.#stream.end();
  }
}

function* head<T>(teller: WatchTeller<T>, begin: Begin, mark: boolean, told: { count: number }): Iterable<T> {
  for (const entry of begin.entries) {
    told.count++;
    yield teller.added(entry);
  }
  if (mark) yield teller.bookmark(begin.after, { 'k8s.io/initial-events-end': 'true' });
}
