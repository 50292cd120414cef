/** Where one of them is, for who added it to give back. */
export interface Place<T> {
  readonly item: T;
  /** Below 0: given back. */
  at: number;
}

/**
 * What is under way, in no order: for what comes and goes thousands of times a second. A Set or a Map does it as fast, but makes its table
 * anew every few dozen of those, and each table leads to the next one. Once one has become old, all that its followers have held
 * since, long gone, is copied by each small collection, and stays until the whole heap is searched: with requests in it
 * that was a quarter of what the collections of a busy server took.
 */
export class UnderWay<T> {
  readonly #places: Place<T>[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(item: T): Place<T> {
    const place = { item, at: this.#places.length };
    this.#places.push(place);
    return place;
  }

  /** Whether it was there. */
  delete(place: Place<T>): boolean {
    if (place.at < 0) return false;
    const last = this.#places.pop() as Place<T>;
    if (last !== place) {
      this.#places[place.at] = last;
      last.at = place.at;
    }
    place.at = -1;
    return true;
  }

  /** As of now: what follows may add and give back. */
  places(): readonly Place<T>[] {
    return [...this.#places];
  }
}
