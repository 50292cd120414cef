import { regexProblem } from '../../regex.ts';
import { Budget, RunError } from '../eval/budget.ts';
import { conversions } from '../eval/conversions.ts';
import { Uint, type Value } from '../eval/values.ts';
import { children, type Expr, type Literal } from './expr.ts';

const folded = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'uint']);

/**
 * Why no program can be made of a well typed expression: its conversions of constants are carried out, and constant regular
 * expressions read, as it is, wherever they are in it. undefined: one can.
 */
export function conversionProblem(expr: Expr): string | undefined {
  try {
    fold(expr, new Budget());
    return undefined;
  } catch (error) {
    if (error instanceof RunError) return error.message;
    throw error;
  }
}

/** What a constant is, in a list of one. */
function fold(expr: Expr, budget: Budget): [Value] | undefined {
  if (expr.op === 'literal') return constant(expr);
  const below = children(expr).map((child) => fold(child, budget));
  // After what is looked at, whether that is the target or an argument.
  if (expr.op === 'call') requireRegex(expr.name, below[1]);
  if (expr.op !== 'call' || expr.target || !folded.has(expr.name) || below.length !== 1) return undefined;
  const [argument] = below;
  const convert = conversions[expr.name];
  return argument && convert && [convert(budget, ...argument)];
}

const matching = new Set(['find', 'findAll', 'matches']);

/** What is no constant is read when it runs. A literal of `matches` was read as it was checked. */
function requireRegex(name: string, [pattern]: readonly unknown[] = []): void {
  const problem = matching.has(name) && typeof pattern === 'string' ? regexProblem(pattern) : undefined;
  if (problem !== undefined) throw new RunError(problem);
}

function constant({ type, value }: Literal): [Value] | undefined {
  if (type === 'bytes') return [Uint8Array.from(Buffer.from(String(value), 'latin1'))];
  return [type === 'uint' ? new Uint(value as bigint) : (value as Value)];
}
