import { sleep } from '../../kube/clock.ts';
import {
  type Range,
  type Store,
  StoreError,
  type StoreEvent,
  type WatchOptions,
} from '../../storage/store.ts';
import { corrupt, type Open } from './opened.ts';
import { isOfOneKind, type Rules } from './rules.ts';
import { Unlearned } from './transformer.ts';

interface Watching {
  options: WatchOptions;
  rules: () => Rules;
  open: Open;
  unreadable: (key: string) => void;
}

/** How often a key is asked for again that events were passed over for. */
const againMs = 10_000;

/** See encryptedStore. */
export async function watch(store: Store, range: Range, how: Watching): Promise<() => void> {
  const opening = new OpeningWatch(range, how);
  const stop = await store.watch(range, opening.options);
  return () => {
    opening.stop();
    stop();
  };
}

/** One watch. While it waits for a key, it asks for a pause, and keeps what is left of one call. */
class OpeningWatch {
  readonly #range: Range;
  readonly #how: Watching;
  readonly #one: boolean;
  readonly #stop = new AbortController();
  readonly #within: AbortSignal;
  /** What was given and not told, in order, and the end of waiting for it. */
  #left: StoreEvent[] = [];
  #waiting: Promise<void> | undefined;
  #passedUnder: Rules | undefined;
  /** Whether events were passed over for a key that could not be asked for. */
  #missing = false;

  constructor(range: Range, how: Watching) {
    this.#range = range;
    this.#how = how;
    this.#one = isOfOneKind(range);
    const { signal } = how.options;
    this.#within = signal ? AbortSignal.any([signal, this.#stop.signal]) : this.#stop.signal;
  }

  get options(): WatchOptions {
    const { options } = this.#how;
    return {
      ...options,
      signal: this.#within,
      sink: (events) => this.#take(events),
      pause: () => this.#waiting ?? options.pause?.(),
      onEnd: (reason) => {
        if (this.#within.aborted) return;
        this.stop();
        options.onEnd?.(reason);
      },
    };
  }

  stop(): void {
    this.#stop.abort();
  }

  #end(error: StoreError): void {
    this.stop();
    this.#how.options.onEnd?.(error);
  }

  #take(events: readonly StoreEvent[]): void {
    const rules = this.#how.rules();
    if (this.#within.aborted) return;
    if (this.#passedUnder !== undefined && this.#passedUnder !== rules) this.#endAnew();
    else if (this.#waiting !== undefined) this.#left.push(...events);
    else if (rules.spares(this.#range)) this.#how.options.sink(events);
    else this.#tell(events);
  }

  /** Tells what can be opened now; the rest when its key is known. */
  #tell(events: readonly StoreEvent[]): void {
    const plain: StoreEvent[] = [];
    let failure: unknown;
    let at = 0;
    for (; at < events.length; at++) {
      const event = events[at] as StoreEvent;
      try {
        plain.push(openedEvent(this.#how.open, event));
      } catch (error) {
        if (error instanceof Unlearned ? !this.#missing : this.#one) {
          failure = error;
          break;
        }
        this.#passOver(event);
      }
    }
    if (plain.length > 0) this.#how.options.sink(plain);
    if (failure === undefined || this.#within.aborted) return;
    if (failure instanceof Unlearned) {
      this.#left = events.slice(at);
      this.#waiting = this.#wait(failure);
    } else this.#end(failure as StoreError);
  }

  /** Never rejects. */
  async #wait({ learn }: Unlearned): Promise<void> {
    const [event] = this.#left as [StoreEvent];
    const failed = await learn().then(
      () => undefined,
      (error: Error) => error,
    );
    const left = this.#left;
    this.#left = [];
    this.#waiting = undefined;
    if (this.#within.aborted) return;
    if (failed !== undefined && this.#one) return this.#end(corrupt(event.entry.key, failed));
    if (failed !== undefined) {
      this.#missing = true;
      void this.#askAgain(learn);
    }
    try {
      this.#tell(left);
    } catch (cause) {
      this.#end(new StoreError('unavailable', 'the watch sink threw', { cause }));
    }
    // What is left still has another one to wait for.
    if (this.#waiting !== undefined) await this.#waiting;
  }

  #passOver({ entry }: StoreEvent): void {
    this.#how.unreadable(entry.key);
    this.#passedUnder = this.#how.rules();
  }

  /** Ends the watch when the key can be had. */
  async #askAgain(learn: () => Promise<void>): Promise<void> {
    const signal = this.#within;
    while (!signal.aborted) {
      await sleep(againMs, signal);
      const known = await learn().then(
        () => true,
        () => false,
      );
      if (known && !signal.aborted) return this.#endAnew();
    }
  }

  #endAnew(): void {
    this.#end(new StoreError('compacted', 'what could not be read may be by now'));
  }
}

function openedEvent(open: Open, { type, entry, previous }: StoreEvent): StoreEvent {
  return { type, entry: open(entry), ...(previous && { previous: open(previous) }) };
}
