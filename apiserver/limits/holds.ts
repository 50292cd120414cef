import type { Counted } from '../../cluster/limits.ts';
import { StoreError } from '../../storage/store.ts';
import type { Counts } from './counts.ts';
import { type Amounts, add, isNothing, nothing, passed, refusalOf } from './decide.ts';
import type { Bounded } from './tree.ts';

/** What a write under way may still add, until it is counted. */
interface Hold {
  ids: readonly string[];
  more: Readonly<Amounts>;
}

/**
 * Writes under way count as done: together with what is stored they never pass a limit. Where only they are in the way, a
 * write waits for what becomes of them.
 */
export class Holds {
  readonly #counts: Counts;
  readonly #pending = new Map<string, Amounts>();
  /** Acknowledged, and not counted yet: by the revision of each. */
  #written: { hold: Hold; revision: number }[] = [];
  #waiting: (() => void)[] = [];

  constructor(counts: Counts) {
    this.#counts = counts;
    counts.onCounted = () => this.#counted();
  }

  /** Takes room for `more` in each of `chain`. Fails with `limited` where there is none. */
  async take(chain: readonly Bounded[], more: Readonly<Amounts>): Promise<Hold> {
    for (;;) {
      for (let counting = this.#counts.ready(); counting; counting = this.#counts.ready()) await counting;
      this.#refuse(chain, more);
      if (chain.every((one) => this.#fits(one, more))) break;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const hold = { ids: chain.map(({ id }) => id), more };
    for (const id of hold.ids) add(this.#pendingOf(id), more);
    return hold;
  }

  /** With the revision of what was written; without, nothing was. */
  settle(hold: Hold, revision?: number): void {
    if (revision !== undefined && revision > this.#counts.revision) this.#written.push({ hold, revision });
    else this.#release(hold);
  }

  #refuse(chain: readonly Bounded[], more: Readonly<Amounts>): void {
    for (const one of chain) {
      const used = this.#counts.of(one.id);
      const names: Counted[] = passed(one.bounds, used, more);
      if (names.length > 0) throw new StoreError('limited', refusalOf(one, names, used, more));
    }
  }

  #fits({ id, bounds }: Bounded, more: Readonly<Amounts>): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return true;
    const all = nothing();
    add(all, this.#counts.of(id));
    add(all, pending);
    return passed(bounds, all, more).length === 0;
  }

  #counted(): void {
    if (this.#written.length === 0) return;
    const { revision } = this.#counts;
    const due = this.#written.filter((one) => one.revision <= revision);
    if (due.length === 0) return;
    this.#written = this.#written.filter((one) => one.revision > revision);
    for (const { hold } of due) this.#release(hold);
  }

  #release({ ids, more }: Hold): void {
    for (const id of ids) {
      const pending = this.#pendingOf(id);
      add(pending, more, -1);
      if (isNothing(pending)) this.#pending.delete(id);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }

  #pendingOf(id: string): Amounts {
    let pending = this.#pending.get(id);
    if (pending === undefined) {
      pending = nothing();
      this.#pending.set(id, pending);
    }
    return pending;
  }
}
