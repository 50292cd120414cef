/** How many requests this thread begins before it looks again who has come. */
const perRound = 16;

type Begin = () => void;

/**
 * Whose request this thread begins next. Most requests take no time but the thread's, so that however many seats there
 * are, hardly one is taken: who sends the most would be served the most. While more come than can be begun at once, each
 * logical cluster begins one in its turn, and within it each user; who asks for less than that waits for nobody twice.
 */
export class Rounds {
  readonly #waiting = new Map<string, Map<string, Begin[]>>();
  #length = 0;
  #passed = 0;
  #planned = 0;

  /** Resolves and rejects as `work` does, which begins now or in its turn. */
  run<T>(cluster: string, user: string, work: () => Promise<T>): Promise<T> {
    if (this.#length === 0 && this.#passed < perRound) {
      this.#pass();
      return begun(work);
    }
    return new Promise((resolve) => this.#enqueue(cluster, user, () => resolve(begun(work))));
  }

  #pass(): void {
    this.#passed++;
    if (this.#passed > 1) return;
    setImmediate(() => {
      this.#passed = 0;
    });
  }

  #enqueue(cluster: string, user: string, begin: Begin): void {
    const users = this.#waiting.get(cluster) ?? new Map<string, Begin[]>();
    this.#waiting.set(cluster, users);
    const own = users.get(user);
    if (own) own.push(begin);
    else users.set(user, [begin]);
    this.#length++;
    this.#plan();
  }

  /** A callback for each, so that what it leads to at once is done before the next begins. */
  #plan(): void {
    if (this.#planned >= perRound || this.#planned >= this.#length) return;
    this.#planned++;
    setImmediate(() => {
      this.#planned--;
      this.#next()?.();
      this.#plan();
    });
  }

  #next(): Begin | undefined {
    const [cluster, users] = firstOf(this.#waiting);
    const [user, own] = firstOf(users);
    if (cluster === undefined || users === undefined || user === undefined || own === undefined)
      return undefined;
    // Whoever has more goes behind all others.
    this.#waiting.delete(cluster);
    users.delete(user);
    const begin = own.shift();
    if (own.length > 0) users.set(user, own);
    if (users.size > 0) this.#waiting.set(cluster, users);
    this.#length--;
    return begin;
  }
}

function firstOf<V>(
  map: ReadonlyMap<string, V> | undefined,
): readonly [string, V] | readonly [undefined, undefined] {
  for (const entry of map ?? []) return entry;
  return [undefined, undefined];
}

function begun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
