import { Budget, perRequest } from '../../../kube/cel/rule.ts';
import { toCel } from '../../../kube/cel/value.ts';

/** Of each policy that is asked, beside what its expressions take. */
const perPolicy = 1000;

/**
 * What all policies together may cost one request. In kube-apiserver each may cost as much; here whoever writes many of them
 * would hold up who shares the process.
 */
export class Costs {
  readonly budget = new Budget(perRequest);
  /** Many policies look at the same object: it is made ready for them once. */
  readonly #shown = new Map<object, unknown>();

  /** Throws CostExceeded. */
  policy(): void {
    this.budget.charge(perPolicy);
  }

  /** Throws CostExceeded. */
  shown<T extends object>(given: T | undefined, read: (given: T) => object = (same) => same): unknown {
    if (given === undefined) return null;
    const known = this.#shown.get(given);
    if (known !== undefined) return known;
    const made = toCel(read(given), undefined, this.budget);
    this.#shown.set(given, made);
    return made;
  }
}
