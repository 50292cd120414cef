import { type Place, UnderWay } from '../../kube/under-way.ts';

/** From here on, a tenth more is nothing. */
const longMs = 10_000;

interface Deadline {
  at: number;
  late: () => void;
}

/**
 * Times by which something should have happened, of which next to none is ever missed: a timer for each costs more
 * than it is worth. One looks after all long ones, which may so be missed a second late.
 */
export class Deadlines {
  readonly #open = new UnderWay<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  /** Calls `late` after `millis`, unless the answer was called before. */
  add(millis: number, late: () => void): () => void {
    if (millis < longMs) {
      const timer = setTimeout(late, millis);
      return () => clearTimeout(timer);
    }
    const place: Place<Deadline> = this.#open.add({ at: performance.now() + millis, late });
    this.#timer ??= setTimeout(() => this.#check(), 1000);
    return () => void this.#open.delete(place);
  }

  #check(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const place of this.#open.places())
      if (place.item.at <= now && this.#open.delete(place)) place.item.late();
    if (this.#open.size > 0) this.#timer ??= setTimeout(() => this.#check(), 1000);
  }
}
