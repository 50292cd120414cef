import { Remembered } from '../authn/remembered.ts';

const most = 10_000;

/** What was said in each logical cluster, for a while: where there are too many, the oldest goes of the one that has the most. */
export class Answers<T> {
  readonly #of = new Map<string, Remembered<T>>();
  readonly #now: (() => number) | undefined;
  #count = 0;

  constructor(now?: () => number) {
    this.#now = now;
  }

  get(cluster: string, question: string): T | undefined {
    return this.#of.get(cluster)?.get(question);
  }

  put(cluster: string, question: string, answer: T, ms: number): void {
    if (this.#count >= most) this.#drop();
    const its = this.#of.get(cluster) ?? new Remembered<T>(this.#now, this.#now);
    const before = its.size;
    its.put(question, answer, ms);
    this.#count += its.size - before;
    if (its.size > 0) this.#of.set(cluster, its);
  }

  #drop(): void {
    let [largest, size] = ['', 0];
    for (const [cluster, its] of this.#of) if (its.size > size) [largest, size] = [cluster, its.size];
    this.#of.get(largest)?.forgetOldest();
    this.#count--;
    if (size === 1) this.#of.delete(largest);
  }
}
