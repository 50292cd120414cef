import { digestOf } from './bearer.ts';

const most = 10_000;
/** What a longer token says is as long, and is not kept. */
const mostLength = 8 << 10;

/** What tokens proved, for a while: by their digests, never more than so many, nor of so long ones. */
export class Remembered<T> {
  /** The first is the oldest. */
  readonly #known = new Map<string, { value: T; until: number; forgetAt: number }>();
  readonly #now: () => number;
  readonly #steady: () => number;

  /** @param steady milliseconds of a clock that nobody sets: nothing is remembered for longer because the other one was. */
  constructor(now: () => number = Date.now, steady: () => number = () => performance.now()) {
    this.#now = now;
    this.#steady = steady;
  }

  /** `digest`: of the token, where it is known. */
  get(token: string, digest = digestOf(token)): T | undefined {
    const found = this.#known.get(digest);
    const isKnown = found !== undefined && found.until > this.#now() && found.forgetAt > this.#steady();
    return isKnown ? found.value : undefined;
  }

  /** For `ms`, or until `until`, in milliseconds since 1970, if that comes first. */
  put(token: string, value: T, ms: number, until = Number.POSITIVE_INFINITY): void {
    if (token.length > mostLength) return;
    if (this.#known.size >= most) this.forgetOldest();
    const key = digestOf(token);
    this.#known.delete(key);
    this.#known.set(key, { value, until, forgetAt: this.#steady() + ms });
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
