import type { Catalog } from '../registry/catalog.ts';

/** What is made of what a logical cluster serves, for as long as it serves that; one for all that serve nothing of their own. */
export class MadeOfServed<T> {
  readonly #catalog: Pick<Catalog, 'hasCustom' | 'generationOf'>;
  readonly #known = new Map<string, { generation: number; made: T }>();

  constructor(catalog: Pick<Catalog, 'hasCustom' | 'generationOf'>) {
    this.#catalog = catalog;
  }

  of(cluster: string, make: () => T): T {
    const key = this.#catalog.hasCustom(cluster) ? cluster : '';
    const generation = this.#catalog.generationOf(cluster);
    const there = this.#known.get(key);
    if (there?.generation === generation) return there.made;
    this.#forgetEnded();
    const made = make();
    this.#known.set(key, { generation, made });
    return made;
  }

  /** For how many logical clusters there is something. */
  get size(): number {
    return this.#known.size;
  }

  /** Whoever defines nothing any more has ended, mostly, and does not ask again. */
  #forgetEnded(): void {
    for (const key of this.#known.keys())
      if (key !== '' && !this.#catalog.hasCustom(key)) this.#known.delete(key);
  }
}
