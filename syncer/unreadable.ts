import { absenceOf, isTransportError, isUnheard } from '../client/errors.ts';
import type { ResourceRef } from '../client/url.ts';
import type { Unread } from '../cluster/readable.ts';
import { groupResource } from '../kube/gvk.ts';
import { isStatusError } from '../kube/status.ts';

/**
 * Of one list of a physical cluster as it comes: more than a hundred thousand pods, of each of which a part is kept. All that it is
 * trusted with of our memory.
 */
export const mostListBytes = 1 << 30;

/** A kind of which no list or watch was answered for so long is told of. */
const unansweredMs = 10_000;

interface Failing {
  /** Undefined: nobody refuses it. */
  why: Exclude<Unread, 'Unanswered'> | undefined;
  /** Since when it is read in vain, by a clock that nobody sets; undefined: it is not read now. */
  since: number | undefined;
}

/** Whoever waits to read a kind again, since nobody answered. */
interface Waiting {
  wake(): void;
  /** It was woken since a list or watch succeeded. */
  wasWoken: boolean;
}

/**
 * The kinds that the physical API does not let us list (403), or of which its lists have no end (EENDLESS). What is of them is neither there nor gone: it is not known,
 * and nothing may be removed, or taken for removed, for want of it.
 */
export class Unreadable {
  readonly #failing = new Map<string, Failing>();
  readonly #unheard = new Map<string, Waiting>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #changed: () => void;

  /** @param changed another kind is readable, or not, from now on. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  has(kind: Pick<ResourceRef, 'group' | 'resource'>): boolean {
    return this.why(kind) !== undefined;
  }

  why(kind: Pick<ResourceRef, 'group' | 'resource'>): Failing['why'] {
    return this.#failing.get(groupResource(kind))?.why;
  }

  /** Whoever reads it goes on in vain, whyever: what is known of it may be old. */
  isFailing(kind: Pick<ResourceRef, 'group' | 'resource'>): boolean {
    return this.#failing.has(groupResource(kind));
  }

  /** Sorted: `ingresses.networking.k8s.io`. */
  list(): Record<Unread, string[]> {
    const result: Record<Unread, string[]> = { Forbidden: [], Endless: [], Unanswered: [] };
    for (const [of, { why, since = Number.POSITIVE_INFINITY }] of [...this.#failing].sort())
      if (why) result[why].push(of);
      else if (performance.now() - since >= unansweredMs) result.Unanswered.push(of);
    return result;
  }

  /** What became of an attempt to read: only a refusal and a success say something. */
  note(kind: Pick<ResourceRef, 'group' | 'resource'>, failure?: unknown): void {
    const why = whyOf(failure);
    if (failure === undefined) this.#unheard.delete(groupResource(kind));
    if (failure === undefined || why !== undefined) this.#set(kind, failure === undefined, why);
  }

  /**
   * The same of an informer, which goes on until it rests; what is not answered says nothing new of what was refused. Answers as `soon`.
   */
  outcome(kind: Pick<ResourceRef, 'group' | 'resource'>, failure: unknown): Promise<void> | undefined {
    const before = this.why(kind);
    const of = groupResource(kind);
    this.note(kind, failure);
    if (failure === undefined || absenceOf(failure) === 'notServed') return undefined;
    const since = this.#failing.get(of)?.since ?? performance.now();
    this.#failing.set(of, { why: whyOf(failure) ?? before, since });
    return this.soon(kind, failure);
  }

  /** Resolves when what failed so is better tried again at once. */
  soon(kind: Pick<ResourceRef, 'group' | 'resource'>, failure: unknown): Promise<void> | undefined {
    if (!isUnheard(failure)) return undefined;
    const of = groupResource(kind);
    return new Promise((wake) => {
      this.#unheard.set(of, { wake, wasWoken: this.#unheard.get(of)?.wasWoken ?? false });
    });
  }

  /** The cluster answers; see WorkQueue.hurry. */
  answered(isBack: boolean): void {
    for (const waiting of this.#unheard.values()) {
      if (waiting.wasWoken && !isBack) continue;
      waiting.wasWoken = true;
      waiting.wake();
    }
  }

  /** Nobody reads it any more. */
  rest(kind: Pick<ResourceRef, 'group' | 'resource'>): void {
    const of = groupResource(kind);
    const why = this.why(kind);
    this.#unheard.delete(of);
    if (why === undefined) this.#failing.delete(of);
    else this.#failing.set(of, { why, since: undefined });
  }

  #set(kind: Pick<ResourceRef, 'group' | 'resource'>, isRead: boolean, why: Failing['why']): void {
    const of = groupResource(kind);
    const before = this.#failing.get(of);
    if (isRead) this.#failing.delete(of);
    else this.#failing.set(of, { why, since: before?.since });
    if (before?.why === why) return;
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

function whyOf(failure: unknown): Failing['why'] {
  if (isStatusError(failure, 'Forbidden')) return 'Forbidden';
  return isTransportError(failure) && failure.code === 'EENDLESS' ? 'Endless' : undefined;
}
