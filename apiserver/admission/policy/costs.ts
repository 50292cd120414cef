import { Budget, perRequest } from '../../../kube/cel/rule.ts';
import { toCel } from '../../../kube/cel/value.ts';
import type { Later } from '../../../kube/later.ts';
import { othersFirst } from '../../../kube/others-first.ts';

/** Of each policy that is asked, beside what its expressions take. */
const perPolicy = 1000;

/** A few milliseconds. */
const perTurn = 20_000;

/** More of them, each with each of its parameters, cost more than there is: those are not even looked for. */
export const mostPolicies = perRequest / perPolicy;

/**
 * What all policies together may cost one request. In kube-apiserver each may cost as much; here whoever writes many of them
 * would hold up who shares the process.
 */
export class Costs {
  readonly budget = new Budget(perRequest);
  /** Many policies look at the same object: it is made ready for them once. What it was before a change goes. */
  readonly #shown = new WeakMap<object, unknown>();
  readonly #cluster: string;
  /** The share of the expression that runs. */
  #running: Budget | undefined;
  /** What has been spent since others had their turn. */
  #told = 0;

  constructor(cluster: string) {
    this.#cluster = cluster;
  }

  /** Before an expression: whoever else waits goes first, where those before it took long. */
  turn(): Later<void> {
    if (this.budget.spent - this.#told < perTurn) return undefined;
    this.#told = this.budget.spent;
    return othersFirst(this.#cluster);
  }

  /** Runs one expression on a part of what is left, and what that uses on a part of the same. */
  within<T>(run: (share: Budget) => T): T {
    const outer = this.#running;
    try {
      return (outer ?? this.budget).within((share) => {
        this.#running = share;
        return run(share);
      });
    } finally {
      this.#running = outer;
    }
  }

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
