/** By Namespace: what the last decision looked for by name, and what looks at a part of it since did. */
export class Mentions {
  readonly #by = new Map<string, Set<string>>();

  /** Undefined: all of it counts. */
  set(key: string, names: ReadonlySet<string> | undefined): void {
    if (names) this.#by.set(key, new Set(names));
    else this.#by.delete(key);
  }

  add(key: string, name: string): void {
    this.#by.get(key)?.add(name);
  }

  /** Also where nothing has been decided yet. */
  has(key: string, name: string): boolean {
    const names = this.#by.get(key);
    return names === undefined || names.has(name);
  }
}
