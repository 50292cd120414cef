import { digestOf } from './bearer.ts';

const most = 10_000;
/** What a longer token says is as long, and is not kept. */
const mostLength = 8 << 10;

/** What tokens proved, for a while: by their digests, never more than so many, nor of so long ones. */
export class Remembered<T> {
  /** The first is the oldest. */
  readonly #known = new Map<string, { value: T; until: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** `digest`: of the token, where it is known. */
  get(token: string, digest = digestOf(token)): T | undefined {
    const found = this.#known.get(digest);
    return found !== undefined && found.until > this.#now() ? found.value : undefined;
  }

  /** For `ms`, or until `until` if that comes first. */
  put(token: string, value: T, ms: number, until = Number.POSITIVE_INFINITY): void {
    if (token.length > mostLength) return;
    if (this.#known.size >= most) this.forgetOldest();
    const key = digestOf(token);
    this.#known.delete(key);
    this.#known.set(key, { value, until: Math.min(this.#now() + ms, until) });
  }

  get size(): number {
    return this.#known.size;
  }

  forgetOldest(): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  forget(token: string): void {
    this.#known.delete(digestOf(token));
  }
}
