import { TooDeep } from './cursor.ts';
import type { Expr } from './expr.ts';

/** As cel-go's parser. */
export const deepest = 250;

/** How many levels each expression is around others: cel-go refuses what is too deep. */
export class Nesting {
  readonly #levels = new Map<Expr, number>();

  /** An expression one level around others; those of logical operators and of lists add none. */
  around<T extends Expr>(expr: T, ...inner: readonly Expr[]): T {
    const level = 1 + this.#levelOf(inner);
    if (level > deepest) throw new TooDeep('max recursion depth exceeded');
    this.#levels.set(expr, level);
    return expr;
  }

  beside<T extends Expr>(expr: T, inner: readonly Expr[]): T {
    this.#levels.set(expr, this.#levelOf(inner));
    return expr;
  }

  /** What a macro became is as deep as its call. */
  replace(call: Expr, expanded: Expr): void {
    this.#levels.set(expanded, this.#levels.get(call) ?? 0);
  }

  #levelOf(inner: readonly Expr[]): number {
    return inner.reduce((most, one) => Math.max(most, this.#levels.get(one) ?? 0), 0);
  }
}
