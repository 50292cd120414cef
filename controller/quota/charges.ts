import { addQuantity, type Quantity, subtractQuantity, zeroQuantity } from '../../kube/quantity.ts';
import type { ResourceList } from '../../kube/quota/list.ts';

/** Admission charges before the object is there: for longer than a write takes, what is charged counts. */
export const settleMs = 2_000;
/** What happened at about the same time is kept as one. */
const togetherMs = 100;

interface Moment {
  at: number;
  /** Charged, less what came: of two watches either may be the first to tell. */
  open: Map<string, Quantity>;
}

/** Of each quota, by key: what was charged lately and has not come yet. */
export class Charges {
  readonly #known = new Map<string, { since: number; moments: Moment[] }>();

  /** It is seen for the first time: what was charged before `now` is not known; undefined: nothing was. */
  begin(key: string, now: number | undefined): void {
    this.#known.set(key, { since: now ?? Number.NEGATIVE_INFINITY, moments: [] });
  }

  end(key: string): void {
    this.#known.delete(key);
  }

  charged(key: string, amounts: ResourceList, now: number): void {
    this.#note(key, amounts, addQuantity, now);
  }

  came(key: string, amounts: ResourceList, now: number): void {
    this.#note(key, amounts, subtractQuantity, now);
  }

  /** What is charged and may be on its way; undefined: nobody knows how much. */
  open(key: string, now: number): ResourceList | undefined {
    const known = this.#known.get(key);
    if (known === undefined || now - known.since < settleMs) return undefined;
    const sum = new Map<string, Quantity>();
    for (const { at, open } of known.moments) {
      if (now - at >= settleMs) continue;
      for (const [name, amount] of open) sum.set(name, addQuantity(sum.get(name) ?? zeroQuantity, amount));
    }
    return new Map([...sum].filter(([, { value }]) => value > 0n));
  }

  /** Until all of it has come, or never will. */
  settlesIn(key: string, now: number): number {
    const { since = now, moments = [] } = this.#known.get(key) ?? {};
    return Math.max(0, (moments.at(-1)?.at ?? since) + settleMs - now);
  }

  #note(key: string, amounts: ResourceList, how: (a: Quantity, b: Quantity) => Quantity, now: number): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    while (known.moments[0] && now - known.moments[0].at >= settleMs) known.moments.shift();
    let last = known.moments.at(-1);
    if (last === undefined || now - last.at >= togetherMs) {
      last = { at: now, open: new Map() };
      known.moments.push(last);
    }
    for (const [name, amount] of amounts)
      last.open.set(name, how(last.open.get(name) ?? zeroQuantity, amount));
  }
}
