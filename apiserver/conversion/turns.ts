interface Place {
  running: number;
  waiting: (() => void)[];
}

/** So many at a time for each logical cluster, the others in the order in which they came: nobody waits for another's. */
export class Turns {
  readonly #most: number;
  readonly #places = new Map<string, Place>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects with the signal's reason where that aborts before it is one's turn. */
  async run<T>(cluster: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const place = this.#places.get(cluster) ?? { running: 0, waiting: [] };
    this.#places.set(cluster, place);
    if (place.running >= this.#most) await turnOf(place, signal);
    else place.running++;
    try {
      return await work();
    } finally {
      const next = place.waiting.shift();
      if (next !== undefined) next();
      else if (--place.running === 0) this.#places.delete(cluster);
    }
  }
}

/** Whoever has done its work hands its turn on. */
function turnOf(place: Place, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      place.waiting.splice(place.waiting.indexOf(come), 1);
      reject(signal.reason);
    };
    const come = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    place.waiting.push(come);
  });
}
