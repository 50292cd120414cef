import { readFile } from 'node:fs/promises';

/**
 * What the files that settings name say, as this server has taken it. A process that starts beside the first begins with that,
 * whatever somebody has written since: all processes of a server go by the same, and none fails for what the server does not use.
 */
export class TakenFiles {
  readonly #texts: Map<string, string>;

  /** @param texts what the process that starts this one has taken. */
  constructor(texts: Readonly<Record<string, string>> = {}) {
    this.#texts = new Map(Object.entries(texts));
  }

  get texts(): Record<string, string> {
    return Object.fromEntries(this.#texts);
  }

  has(file: string): boolean {
    return this.#texts.has(file);
  }

  /** As it was taken, else as it is now. */
  async read(file: string): Promise<string> {
    const text = this.#texts.get(file) ?? (await readFile(file, 'utf8'));
    this.take(file, text);
    return text;
  }

  /** As it is now, for whoever has taken another file that names it. */
  async readAnew(file: string): Promise<string> {
    const text = await readFile(file, 'utf8');
    this.take(file, text);
    return text;
  }

  take(file: string, text: string): void {
    this.#texts.set(file, text);
  }
}
