/** Of one review. */
const mostObjects = 100;
const mostBytes = 1024 * 1024;

/** In parts that have so much each, of what counts, as one review takes. */
export function* partsOf<T>(all: readonly T[], sizeOf: (one: T) => number | undefined): Generator<T[]> {
  let part: T[] = [];
  let count = 0;
  let bytes = 0;
  for (const one of all) {
    const size = sizeOf(one);
    if (size !== undefined && count > 0 && (count >= mostObjects || bytes + size > mostBytes)) {
      yield part;
      part = [];
      count = 0;
      bytes = 0;
    }
    part.push(one);
    count += size === undefined ? 0 : 1;
    bytes += size ?? 0;
  }
  if (part.length > 0) yield part;
}

/** About how much is decoded or encoded before others have their turn. */
const paceBytes = 256 * 1024;

/** Says when it is others' turn. */
export class Pace {
  #bytes = 0;

  isOver(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes < paceBytes) return false;
    this.#bytes = 0;
    return true;
  }
}
