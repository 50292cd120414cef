import type { Resources } from '../cluster/pod-spec.ts';
import { subtractQuantity, zeroQuantity } from '../kube/quantity.ts';
import { addUsage, nothingUsed, type Usage } from './usage.ts';

/** What every namespace takes on every physical cluster, and the sums, kept up to date by difference. */
export class Ledger {
  readonly #byNamespace = new Map<string, Usage>();
  readonly #total: Usage = new Map();

  set(namespace: string, usage: Usage): void {
    const before = this.#byNamespace.get(namespace);
    if (before) subtractUsage(this.#total, before);
    addUsage(this.#total, usage);
    if (usage.size > 0) this.#byNamespace.set(namespace, usage);
    else this.#byNamespace.delete(namespace);
  }

  /** What all take. */
  get total(): Usage {
    return this.#total;
  }

  /** What all but this namespace take. */
  others(namespace: string): Usage {
    const rest = new Map(this.#total);
    const own = this.#byNamespace.get(namespace);
    if (own) subtractUsage(rest, own);
    return rest;
  }
}

export function subtractUsage(from: Usage, less: ReadonlyMap<string, Resources>): void {
  for (const [cluster, resources] of less) {
    const left = new Map(from.get(cluster) ?? nothingUsed);
    for (const [name, amount] of resources) {
      const rest = subtractQuantity(left.get(name) ?? zeroQuantity, amount);
      if (rest.value === 0n) left.delete(name);
      else left.set(name, rest);
    }
    if (left.size === 0) from.delete(cluster);
    else from.set(cluster, left);
  }
}
