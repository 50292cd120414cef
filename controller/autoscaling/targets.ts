/** Of one autoscaler: what it scales, and the APIs of metrics that it needs. */
export interface Wants {
  target: string;
  groups: readonly string[];
}

interface Target {
  /** Who scales it, in the order in which they came. */
  scalers: Set<string>;
  /** How many of them need each API. */
  needs: Map<string, number>;
}

/**
 * Who scales what, and the APIs that it needs. Whatever is asked or told takes no longer where there are many of one target: whoever
 * writes ten thousand of them would else have each look at all of the others.
 */
export class Targets {
  readonly #of = new Map<string, Wants>();
  readonly #targets = new Map<string, Target>();

  /** Undefined: it is gone. Answers the targets that have begun to need an API, or no longer do: of those all scalers are concerned. */
  set(key: string, wants: Wants | undefined): string[] {
    const old = this.#of.get(key);
    const changed = new Set<string>();
    if (wants) {
      this.#of.set(key, wants);
      const { scalers, needs } = this.#made(wants.target);
      scalers.add(key);
      for (const group of wants.groups) {
        if (!needs.has(group)) changed.add(wants.target);
        needs.set(group, (needs.get(group) ?? 0) + 1);
      }
    } else this.#of.delete(key);
    if (old) {
      const { scalers, needs } = this.#made(old.target);
      for (const group of old.groups) {
        const left = (needs.get(group) ?? 0) - 1;
        if (left > 0) needs.set(group, left);
        else if (needs.delete(group)) changed.add(old.target);
      }
      if (old.target !== wants?.target) scalers.delete(key);
      if (scalers.size === 0) this.#targets.delete(old.target);
    }
    return [...changed];
  }

  needs(target: string): ReadonlyMap<string, number> {
    return this.#targets.get(target)?.needs ?? new Map();
  }

  scalers(target: string): ReadonlySet<string> {
    return this.#targets.get(target)?.scalers ?? new Set();
  }

  #made(target: string): Target {
    const known = this.#targets.get(target) ?? { scalers: new Set(), needs: new Map() };
    this.#targets.set(target, known);
    return known;
  }
}
