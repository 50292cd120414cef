import type { Expr } from './expr.ts';
import type { Inference } from './inference.ts';
import type { CelType } from './types.ts';

/** What checking an expression offers to the checks of its parts. */
export interface Checking {
  infer: Inference;
  check(expr: Expr): CelType;
  /** Of what was checked, as far as it was known then. */
  typeOf(expr: Expr): CelType;
  find(name: string): CelType | undefined;
  report(offset: number, message: string): void;
  mismatch(offset: number, expected: CelType, found: CelType): void;
  undeclared(offset: number, name: string): CelType;
  fieldOfMessage(offset: number, message: string, field: string): CelType | undefined;
}
