import { type Clock, ticksOf } from '../kube/clock.ts';
import { deepEqual } from '../kube/deep.ts';
import { at, isRecord, listAt } from '../kube/untyped.ts';
import { waitingForClusters } from './fold/conditions.ts';

/** By then a cluster that answers has said something of what it was given first, and its word is one write with ours. */
export const firstWordMs = 5_000;
/** Or by then, while there is more to do than can be done. */
const rushedMs = 30_000;

/** See RecorderOptions. */
export type Rush = { readonly isOn: boolean } | undefined;

/** Of whom nothing is heard before is looked at anew by then. */
export function wordMs(rush: Rush): number {
  return rush?.isOn ? rushedMs : firstWordMs;
}

/** Who has just been given a share has had no time to speak: a status that says that alone waits for its first word. */
export class FirstWords {
  readonly #clock: Clock;
  readonly #rush: Rush;
  /** By key of a Placement: since when there was nothing else to say of its object, by a clock that nobody sets. */
  readonly #since = new Map<string, number>();

  constructor(clock: Clock, rush?: Rush) {
    this.#clock = clock;
    this.#rush = rush;
  }

  /** How long the status waits yet, in milliseconds; 0: it is told now. */
  left(key: string, before: unknown, status: Record<string, unknown>): number {
    if (!isNoNews(before, status)) {
      this.forget(key);
      return 0;
    }
    const now = ticksOf(this.#clock);
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    return Math.max(0, since + wordMs(this.#rush) - now);
  }

  forget(key: string): void {
    this.#since.delete(key);
  }
}

/** There is something new in it, and only of conditions, that somebody has yet to speak. */
export function isNoNews(before: unknown, status: Record<string, unknown>): boolean {
  if (!isRecord(before) || deepEqual(before, status)) return false;
  const conditions = listAt(status, 'conditions').map((condition) =>
    at(condition, 'reason') === waitingForClusters
      ? listAt(before, 'conditions').find((old) => at(old, 'type') === at(condition, 'type'))
      : condition,
  );
  return deepEqual(before, { ...status, conditions });
}
