import { own } from './definitions.ts';
import { type Family, figures } from './family.ts';

/** Which leases this process holds, of those that it asks for. A physical cluster's syncers are one by name. */
export class LeaderMetrics {
  readonly #held = new Map<string, number>();

  /** `lead`, while which the lease counts as held. */
  leading<Term>(lease: string, lead: (term: Term) => Promise<void>): (term: Term) => Promise<void> {
    this.#add(lease, 0);
    return async (term) => {
      this.#add(lease, 1);
      try {
        await lead(term);
      } finally {
        this.#add(lease, -1);
      }
    };
  }

  /** It is not asked for any more. */
  forget(lease: string): void {
    this.#held.delete(lease);
  }

  families(): Family[] {
    return [
      figures(
        own.leader,
        Array.from(this.#held, ([lease, held]) => [[lease], held] as const),
      ),
    ];
  }

  #add(lease: string, more: number): void {
    this.#held.set(lease, (this.#held.get(lease) ?? 0) + more);
  }
}
