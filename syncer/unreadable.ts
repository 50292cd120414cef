import { isTransportError } from '../client/errors.ts';
import type { ResourceRef } from '../client/url.ts';
import { groupResource } from '../kube/gvk.ts';
import { isStatusError } from '../kube/status.ts';

/**
 * Of one list of a physical cluster as it comes: more than a hundred thousand pods, of each of which a part is kept. All that it is
 * trusted with of our memory.
 */
export const mostListBytes = 1 << 30;

/**
 * The kinds that the physical API does not let us list (403), or of which its lists have no end (EENDLESS). What is of them is neither there nor gone: it is not known,
 * and nothing may be removed, or taken for removed, for want of it.
 */
export class Unreadable {
  readonly #kinds = new Set<string>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #changed: () => void;

  /** @param changed another kind is readable, or not, from now on. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  has(kind: Pick<ResourceRef, 'group' | 'resource'>): boolean {
    return this.#kinds.has(groupResource(kind));
  }

  /** Sorted: `ingresses.networking.k8s.io`. */
  list(): string[] {
    return [...this.#kinds].sort();
  }

  /** What became of an attempt to read: only a refusal and a success say something. */
  note(kind: Pick<ResourceRef, 'group' | 'resource'>, failure?: unknown): void {
    const of = groupResource(kind);
    const isRefused = isStatusError(failure, 'Forbidden') || isEndless(failure);
    if ((failure !== undefined && !isRefused) || this.#kinds.has(of) === isRefused) return;
    if (isRefused) this.#kinds.add(of);
    else this.#kinds.delete(of);
    for (const tell of this.#waiting.get(of) ?? []) tell();
    this.#waiting.delete(of);
    this.#changed();
  }

  /** Once the kind is refused; never, where it is not. */
  refused(kind: Pick<ResourceRef, 'group' | 'resource'>): Promise<void> {
    if (this.has(kind)) return Promise.resolve();
    const of = groupResource(kind);
    return new Promise((tell) => {
      this.#waiting.set(of, [...(this.#waiting.get(of) ?? []), tell]);
    });
  }
}

function isEndless(failure: unknown): boolean {
  return isTransportError(failure) && failure.code === 'EENDLESS';
}
