import { askedSince } from '../cluster/heard.ts';
import type { ShareView, ToldShare } from '../cluster/types.ts';
import { type Clock, sleep, systemClock } from '../kube/clock.ts';
import { deepEqual } from '../kube/deep.ts';

/** A beat answers for all that was asked before it began; so many questions in a moment are one beat. */
const minIntervalMs = 100;

/** The splitter asks in a share for a word since a moment: what is done on the strength of this cluster waits for it. */
export class Questions {
  readonly #clock: Clock;
  /** When the last beat began that says something; milliseconds since 1970. */
  #answered = 0;
  #asked = 0;
  #wake: () => void = () => {};

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  ask(since: number | undefined): void {
    if (since === undefined) return;
    // Of a clock that was set back since: what was asked and answered by it was long ago.
    if (this.#answered > Date.now()) [this.#answered, this.#asked] = [0, 0];
    if (since <= Math.max(this.#answered, this.#asked)) return;
    this.#asked = since;
    this.#wake();
  }

  /** Somebody waits for a word. */
  get areOpen(): boolean {
    return this.#asked > this.#answered;
  }

  /** A beat that began then says what it found. One that says nothing answers nobody. */
  answer(began: number): void {
    if (began < this.#answered) this.#asked = Math.min(this.#asked, began);
    this.#answered = began;
  }

  /**
   * Until the next beat is due. Who asks by a clock that runs ahead is answered when it is that time here: sooner no beat answers that.
   * `more`: asked when the time is over, for how long it is waited on; one wait, however often it is looked whether it may go on.
   */
  async wait(intervalMs: number, signal: AbortSignal, more?: () => number | undefined): Promise<void> {
    const soonest = performance.now() + Math.min(minIntervalMs, intervalMs);
    const pause = () => sleep(Math.max(0, soonest - performance.now()), signal);
    if (this.areOpen) await pause();
    const leftMs = this.areOpen ? Math.min(intervalMs, this.#asked - Date.now()) : intervalMs;
    if (leftMs <= 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        this.#wake = () => {};
        resolve();
      };
      const over = () => {
        const moreMs = this.areOpen ? undefined : more?.();
        if (moreMs === undefined) end();
        else cancel = this.#clock.after(moreMs, over);
      };
      let cancel = this.#clock.after(leftMs, over);
      signal.addEventListener('abort', end, { once: true });
      this.#wake = end;
    });
    // Most waits are over by themselves: a timer for each, only in case that somebody asks, would wake the process for nothing.
    if (this.areOpen) await pause();
  }
}

/** Of `old`: it is asked for a word since another time, and nothing else is wanted. */
export function isQuestion(share: ShareView, old: ShareView): boolean {
  if (!share.spec || !old.spec || share.metadata.uid !== old.metadata.uid) return false;
  if (askedSince(share.spec.share) === askedSince(old.spec.share)) return false;
  const unasked = ({ readySince: _ready, heardSince: _heard, ...rest }: ToldShare) => rest;
  const of = ({ share: numbers, ...spec }: NonNullable<ShareView['spec']>) => [unasked(numbers), spec];
  return deepEqual(of(share.spec), of(old.spec));
}
