/** Of each logical cluster who waits; the one that was served last is the last. */
const waiting = new Map<string, (() => void)[]>();
let isUnderWay = false;

/**
 * Resolves when the process has looked at what else there is to do. Of all that ask, one goes on each time, of another logical
 * cluster each time: expressions of one, in however many requests, hold up the others for as long as one of them takes.
 */
export function othersFirst(cluster: string): Promise<void> {
  return new Promise((resolve) => {
    const its = waiting.get(cluster);
    if (its) its.push(resolve);
    else waiting.set(cluster, [resolve]);
    if (!isUnderWay) setImmediate(next);
    isUnderWay = true;
  });
}

function next(): void {
  const [first] = waiting;
  if (first) {
    const [cluster, its] = first;
    its.shift()?.();
    waiting.delete(cluster);
    if (its.length > 0) waiting.set(cluster, its);
  }
  isUnderWay = waiting.size > 0;
  if (isUnderWay) setImmediate(next);
}

/** Of a logical cluster's objects so much is read, or written, at a time: a few milliseconds. */
const bytesPerTurn = 128 << 10;

/** The work of one request that goes over any number of objects. */
export class Pace {
  readonly #cluster: string;
  #bytes = 0;

  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  /** So much more was done. Whoever has done enough waits until others have had their turn; undefined: go on. */
  after(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes < bytesPerTurn) return undefined;
    this.#bytes = 0;
    return othersFirst(this.#cluster);
  }
}
