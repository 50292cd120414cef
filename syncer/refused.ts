import type { ReflectedKind } from '../cluster/reflected.ts';
import type { Retry } from '../controller/controller.ts';
import { isStatusError } from '../kube/status.ts';

/** A name that is taken is asked for again after a tenth of the time that it has been: it is soon known to be free. */
const clashMs = { least: 100, most: 30_000, share: 0.1 };
/**
 * What is shown, and not under its owner, waits for others that are on their way, most often: for as long again as it has
 * been so. The owner may also never be shown.
 */
const otherMs = { least: 100, most: 300_000, share: 1 };
/**
 * Of two claims of one name the one in use is shown, and that changes without any event about the claim. It may also be a user's, or
 * held, for good.
 */
const claimMs = { least: 2_000, most: 10_000, share: 0.1 };

/** The watch of what an event is about may be behind, but no longer than so. */
const soonMs = 30_000;

/** The objects of a kind that are there, but not to be shown, or not now; since when. */
export class Refused {
  readonly #kind: ReflectedKind;
  readonly #since = new Map<string, number>();

  constructor(kind: ReflectedKind) {
    this.#kind = kind;
  }

  has(key: string): boolean {
    return this.#since.has(key);
  }

  /** From now on. */
  note(key: string): void {
    this.#since.set(key, Date.now());
  }

  delete(key: string): void {
    this.#since.delete(key);
  }

  /** When to ask again: the longer it has been so, the later, and much later what may well never be taken. */
  again(key: string, isDoubtful = false): Retry {
    const since = this.#sinceOf(key);
    if (isDoubtful) return { after: waitMs(since, { ...clashMs, share: 1 }) };
    return { after: waitMs(since, this.#kind.kind === 'PersistentVolumeClaim' ? claimMs : clashMs) };
  }

  /** When to look again at what is not put now; undefined: it was waited for long enough, and what is shown of it stays. */
  wait(key: string, prospect: 'later' | 'soon' | 'never'): Retry | undefined {
    const isOver = prospect === 'soon' && Date.now() - this.#sinceOf(key) >= soonMs;
    // What an event is about is most often on its way up; it may also never come.
    if (prospect !== 'never' && !isOver) return this.again(key, this.#kind.kind === 'Event');
    this.delete(key);
    return undefined;
  }

  /** The same for what is shown under another owner than its own. */
  againUnderOther(key: string): { after: number } {
    return { after: waitMs(this.#sinceOf(key), otherMs) };
  }

  #sinceOf(key: string): number {
    if (!this.has(key)) this.note(key);
    return this.#since.get(key) ?? 0;
  }
}

function waitMs(since: number, { least, most, share }: typeof clashMs): number {
  return Math.min(Math.max(least, (Date.now() - since) * share), most);
}

/** Taken by another cluster's or a user's; or the last share there is just going. */
export function isRefusedObject(error: unknown): boolean {
  return ['Conflict', 'Forbidden', 'NotFound'].some((reason) => isStatusError(error, reason));
}

/** Its Namespace, or the logical cluster of that, is gone or going: nothing new comes into that any more. */
export function isForGood(error: unknown): boolean {
  if (!isStatusError(error)) return false;
  const { kind, causes = [] } = error.details ?? {};
  if (error.reason === 'NotFound') return kind === 'namespaces';
  if (error.reason !== 'Forbidden') return false;
  return (
    causes.some(({ reason }) => reason === 'NamespaceTerminating') || /being terminated$/.test(error.message)
  );
}
