/**
 * A path that grows as Go's slices do: two paths made longer from the same one may share their last step, the later one's.
 * cel-go estimates costs with such paths, and what definitions may hold follows from it.
 */
export class Path {
  readonly #cells: string[];
  readonly #room: number;
  readonly length: number;

  private constructor(cells: string[], room: number, length: number) {
    this.#cells = cells;
    this.#room = room;
    this.length = length;
  }

  static readonly empty = new Path([], 0, 0);

  static of(variable: string): Path {
    return new Path([variable], 1, 1);
  }

  get steps(): readonly string[] {
    return this.#cells.slice(0, this.length);
  }

  to(step: string): Path {
    const fits = this.length < this.#room;
    const cells = fits ? this.#cells : this.#cells.slice(0, this.length);
    cells[this.length] = step;
    return new Path(cells, fits ? this.#room : Math.max(this.#room * 2, 1), this.length + 1);
  }
}
