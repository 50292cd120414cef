import type { Resources } from '../cluster/pod-spec.ts';
import { subtractQuantity, zeroQuantity } from '../kube/quantity.ts';
import { addUsage, nothingUsed, type Usage } from './usage.ts';

/** What every namespace takes on every physical cluster, and the sums, kept up to date by difference. */
export class Ledger {
  readonly #byNamespace = new Map<string, Usage>();
  readonly #total: Usage = new Map();

  set(namespace: string, usage: Usage): void {
    this.change(namespace, new Map(this.of(namespace)), usage);
  }

  /** It takes `more` where it took `less`: costs as much as these are. */
  change(namespace: string, less: Usage, more: Usage): void {
    const own = this.#byNamespace.get(namespace) ?? new Map();
    for (const sum of [own, this.#total]) {
      subtractUsage(sum, less);
      addUsage(sum, more);
    }
    if (own.size > 0) this.#byNamespace.set(namespace, own);
    else this.#byNamespace.delete(namespace);
  }

  /** What this namespace takes. */
  of(namespace: string): ReadonlyMap<string, Resources> {
    return this.#byNamespace.get(namespace) ?? new Map();
  }

  /** What all take. */
  get total(): Usage {
    return this.#total;
  }

  /** What all but this namespace take. */
  others(namespace: string): Usage {
    return this.without(this.of(namespace));
  }

  /** What all take, but for this. */
  without(less: ReadonlyMap<string, Resources>): Usage {
    const rest = new Map(this.#total);
    subtractUsage(rest, less);
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
