/** Of all warnings together so many characters are told; where they are more, of each so many, until that is told. */
const mostOfAll = 4096;
const mostOfOne = 256;

/** What the client is told beside the answer: each text once, and no more of it than kube-apiserver tells, however much there is. */
export class Warnings {
  #told: Set<string> | undefined;
  #texts: string[] = [];
  #length = 0;
  #isCut = false;

  add(text: string): void {
    if (text === '' || (this.#isCut && this.#length >= mostOfAll)) return;
    this.#told ??= new Set();
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#tell(text);
    if (this.#isCut || this.#length <= mostOfAll) return;
    this.#isCut = true;
    this.#length = 0;
    this.#texts = [];
    for (const one of this.#told) this.#tell(one);
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  #tell(text: string): void {
    const most = this.#isCut ? mostOfOne : mostOfAll;
    // A character is two units at most.
    const characters = [...text.slice(0, 2 * (most + 1))];
    const isLonger = characters.length > most;
    this.#texts.push(this.#isCut && isLonger ? characters.slice(0, most).join('') : text);
    this.#length += this.#isCut && isLonger ? most : characters.length;
  }
}
