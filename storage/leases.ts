import { type Fence, type Lease, StoreError } from './store.ts';

interface Term {
  readonly token: number;
  /** By `performance.now()`: a wall clock that is set back would prolong it. */
  endsAt: number;
}

/** The leases of a store whose holders all live in this process; nothing but the newest token outlives it. */
export class Leases {
  readonly #terms = new Map<string, Term>();
  /** The highest token that was ever given. */
  #newest: number;

  constructor(newest = 0) {
    this.#newest = newest;
  }

  /** Undefined while somebody holds it. The token is also above `revision`, which a restored store bumps. */
  acquire(name: string, ttlMs: number, revision: number): Lease | undefined {
    if (this.#term(name) !== undefined) return undefined;
    const token = Math.max(this.#newest, revision) + 1;
    this.#newest = token;
    this.#terms.set(name, { token, endsAt: performance.now() + ttlMs });
    return {
      name,
      token,
      keepAlive: async () => this.#extend(name, token, ttlMs),
      release: async () => {
        if (this.#terms.get(name)?.token === token) this.#terms.delete(name);
      },
    };
  }

  /** Throws `fenced` unless the lease is held with that token now; nothing to hold is always held. */
  check(fence: Fence | undefined): void {
    if (fence === undefined || this.#term(fence.name)?.token === fence.token) return;
    throw fenced(fence);
  }

  #extend(name: string, token: number, ttlMs: number): boolean {
    const term = this.#term(name);
    if (term?.token !== token) return false;
    term.endsAt = performance.now() + ttlMs;
    return true;
  }

  #term(name: string): Term | undefined {
    const term = this.#terms.get(name);
    if (term === undefined || performance.now() < term.endsAt) return term;
    this.#terms.delete(name);
    return undefined;
  }
}

export function fenced({ name, token }: Fence): StoreError {
  return new StoreError('fenced', `the lease ${name} is no longer held with token ${token}`);
}
