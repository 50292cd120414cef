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

type Why = Exclude<Unread, 'Unanswered'>;
type Kind = Pick<ResourceRef, 'group' | 'resource'>;

/** Whoever waits to read a kind again, since nobody answered. */
interface Waiting {
  wake(): void;
  /** It was woken since a list or watch succeeded. */
  wasWoken: boolean;
}

/** Of one informer. A kind may have several: what another reads, or one question is answered, is not what this one knows. */
export interface Reading {
  /** See InformerOptions; answers as `soon`. */
  onOutcome(failure: unknown): Promise<void> | undefined;
  /** It reads no more. */
  onRest(): void;
}

/**
 * The kinds that the physical API does not let us list (403), or of which its lists have no end (EENDLESS). What is of them is neither there nor gone: it is not known,
 * and nothing may be removed, or taken for removed, for want of it.
 */
export class Unreadable {
  readonly #refused = new Map<string, Why>();
  /** Those that read in vain, since when, by a clock that nobody sets; at the earliest, since the cluster answers. */
  readonly #vain = new Map<Reading, { of: string; since: number }>();
  /** Those whose last list or watch began well. */
  readonly #open = new Set<Reading>();
  /** By reading; by kind, of who asks but once. */
  readonly #unheard = new Map<Reading | string, Waiting>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #changed: () => void;

  /** @param changed another kind is readable, or not, from now on. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  has(kind: Kind): boolean {
    return this.why(kind) !== undefined;
  }

  why(kind: Kind): Why | undefined {
    return this.#refused.get(groupResource(kind));
  }

  /** Something there is watched, and nothing that may be read fails: if the cluster went that would. */
  get isWatched(): boolean {
    return this.#open.size > 0 && [...this.#vain.values()].every(({ of }) => this.#refused.has(of));
  }

  /** Sorted: `ingresses.networking.k8s.io`. */
  list(): Record<Unread, string[]> {
    const result: Record<Unread, string[]> = { Forbidden: [], Endless: [], Unanswered: [] };
    for (const [of, why] of [...this.#refused].sort()) result[why].push(of);
    const long = [...this.#vain.values()].filter(({ since }) => performance.now() - since >= unansweredMs);
    const silent = new Set(long.map(({ of }) => of).filter((of) => !this.#refused.has(of)));
    result.Unanswered.push(...[...silent].sort());
    return result;
  }

  /** What became of a question, which says nothing of those who read: only a refusal and a success say something. */
  note(kind: Kind, failure?: unknown): void {
    const of = groupResource(kind);
    if (failure === undefined) this.#unheard.delete(of);
    this.#note(of, failure);
  }

  /** For one informer, which goes on until it rests. */
  reading(kind: Kind): Reading {
    const of = groupResource(kind);
    const reading: Reading = {
      onOutcome: (failure) => {
        const isAnswered = isAnswer(failure);
        if (isAnswered) reading.onRest();
        if (failure === undefined) this.#open.add(reading);
        else this.#open.delete(reading);
        this.#note(of, failure);
        if (isAnswered) return undefined;
        if (!this.#vain.has(reading)) this.#vain.set(reading, { of, since: performance.now() });
        return this.#soon(reading, failure);
      },
      onRest: () => {
        this.#open.delete(reading);
        this.#vain.delete(reading);
        this.#unheard.delete(reading);
      },
    };
    return reading;
  }

  /** Resolves when what failed so is better tried again at once. */
  soon(kind: Kind, failure: unknown): Promise<void> | undefined {
    return this.#soon(groupResource(kind), failure);
  }

  #soon(who: Reading | string, failure: unknown): Promise<void> | undefined {
    if (!isUnheard(failure)) return undefined;
    return new Promise((wake) => {
      this.#unheard.set(who, { wake, wasWoken: this.#unheard.get(who)?.wasWoken ?? false });
    });
  }

  /** The cluster answers; see WorkQueue.hurry. */
  answered(isBack: boolean): void {
    // Until now it was the cluster that did not answer: all is just being read again.
    if (isBack) for (const vain of this.#vain.values()) vain.since = performance.now();
    for (const waiting of this.#unheard.values()) {
      if (waiting.wasWoken && !isBack) continue;
      waiting.wasWoken = true;
      waiting.wake();
    }
  }

  /** What is not answered says nothing new of what was refused, and one answer nothing of how long the list is that another reads in vain. */
  #note(of: string, failure: unknown): void {
    const before = this.#refused.get(of);
    const why = whyOf(failure);
    if (!isAnswer(failure) && why === undefined) return;
    if (before === 'Endless' && why === undefined && this.#isReadInVain(of)) return;
    if (before === why) return;
    if (why) this.#refused.set(of, why);
    else this.#refused.delete(of);
    for (const tell of [...(this.#waiting.get(of) ?? [])]) tell();
    this.#changed();
  }

  #isReadInVain(kind: string): boolean {
    return [...this.#vain.values()].some(({ of }) => of === kind);
  }

  /** Once the kind is refused; never, where it is not, nor after the signal has aborted: whoever asks comes and goes. */
  refused(kind: Kind, signal: AbortSignal): Promise<void> {
    if (this.has(kind)) return Promise.resolve();
    const of = groupResource(kind);
    return new Promise((resolve) => {
      if (signal.aborted) return;
      const waiting = this.#waiting.get(of) ?? new Set();
      this.#waiting.set(of, waiting);
      const end = () => {
        signal.removeEventListener('abort', end);
        waiting.delete(tell);
        if (waiting.size === 0 && this.#waiting.get(of) === waiting) this.#waiting.delete(of);
      };
      const tell = () => {
        end();
        resolve();
      };
      waiting.add(tell);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

/** Of a kind that is not served nothing is kept from us. */
function isAnswer(failure: unknown): boolean {
  return failure === undefined || absenceOf(failure) === 'notServed';
}

function whyOf(failure: unknown): Why | undefined {
  if (isStatusError(failure, 'Forbidden')) return 'Forbidden';
  return isTransportError(failure) && failure.code === 'EENDLESS' ? 'Endless' : undefined;
}
