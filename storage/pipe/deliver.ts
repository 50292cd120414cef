import { setImmediate } from 'node:timers';
import type { Given } from './pushed.ts';
import { Watcher } from './watcher.ts';

/** How long watchers are served before everything else gets its turn. */
const SLICE_MS = 4;
/** So many watchers are served between two looks at the clock. */
const CLOCK_EVERY = 64;

/** Hands watchers what they are given; those whose turn comes too late get it in later turns, and lag meanwhile. */
export class Delivery {
  readonly #late = new Set<Watcher>();
  #turn: NodeJS.Immediate | undefined;

  readonly deliver = (given: readonly Given[]): void => {
    const deadline = performance.now() + SLICE_MS;
    let served = 0;
    let late = false;
    for (const { listener, watch, what } of given) {
      if (!listener.hears(watch)) continue;
      if (++served % CLOCK_EVERY === 0) late ||= performance.now() >= deadline;
      if (late && listener instanceof Watcher) this.#hold(listener);
      if (typeof what === 'boolean') listener.synced(what);
      else listener.events(what);
    }
  };

  forget(watcher: Watcher): void {
    this.#late.delete(watcher);
  }

  #hold(watcher: Watcher): void {
    if (watcher.late) return;
    watcher.hold();
    this.#late.add(watcher);
    this.#turn ??= setImmediate(this.#serve);
  }

  /** The longest waiting first. */
  readonly #serve = (): void => {
    this.#turn = undefined;
    const deadline = performance.now() + SLICE_MS;
    for (const watcher of this.#late) {
      this.#late.delete(watcher);
      watcher.drain(deadline);
      if (watcher.late) this.#late.add(watcher);
      if (performance.now() >= deadline) break;
    }
    if (this.#late.size > 0) this.#turn ??= setImmediate(this.#serve);
  };
}
