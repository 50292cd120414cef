import type { PodPort } from './target.ts';

const mostOpen = 1024;

/** One forward: what ends it, for whoever has fewer. */
export interface Place {
  readonly target: PodPort;
  end(why: string): void;
}

/**
 * How many forwards this process has open, for which logical cluster. Where there is no room for one more, the logical cluster that
 * has the most loses its oldest: nobody keeps another from its own by holding many.
 */
export class Places {
  readonly #most: number;
  readonly #open = new Map<string, Set<Place>>();
  #count = 0;

  constructor(most = mostOpen) {
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** Gives it back with what is returned, once. */
  take(place: Place): () => void {
    if (this.#count >= this.#most) this.#makeRoom();
    const of = this.#open.get(place.target.cluster) ?? new Set();
    this.#open.set(place.target.cluster, of.add(place));
    this.#count++;
    return () => this.#release(place);
  }

  *[Symbol.iterator](): Generator<Place> {
    for (const of of this.#open.values()) yield* of;
  }

  #makeRoom(): void {
    let greediest: Set<Place> = new Set();
    for (const of of this.#open.values()) if (of.size > greediest.size) greediest = of;
    const [oldest] = greediest;
    if (oldest === undefined) return;
    this.#release(oldest);
    oldest.end('others have too few forwards');
  }

  #release(place: Place): void {
    const of = this.#open.get(place.target.cluster);
    if (!of?.delete(place)) return;
    this.#count--;
    if (of.size === 0) this.#open.delete(place.target.cluster);
  }
}
