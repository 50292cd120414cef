import { Environment } from '@marcbachmann/cel-js';
import { located, syntaxProblem, type Unreadable } from './syntax.ts';
import type { Checked } from './typed/check.ts';
import { compile } from './typed/compile.ts';
import type { Declarations } from './typed/environment.ts';

/** An expression as it can be judged without running it. */
export interface Judgement {
  /** What is wrong, as kube-apiserver tells it after `compilation failed: `. */
  problem?: string;
  /** With its types; absent where something is wrong. */
  checked?: Checked;
  /** The variables that it names. */
  names?: ReadonlySet<string>;
}

const judged = new WeakMap<Declarations, Map<string, Judgement>>();
const mostJudged = 1000;

/**
 * Judges an expression in the words of the reference implementation. Declarations that are kept remember their
 * expressions. https://kubernetes.io/docs/reference/using-api/cel/
 */
export function judge(expression: string, declarations: Declarations): Judgement {
  const known = judged.get(declarations) ?? new Map<string, Judgement>();
  judged.set(declarations, known);
  const before = known.get(expression);
  if (before) return before;
  if (known.size >= mostJudged) known.clear();
  const made = compile(expression, declarations) ?? unreadable(expression);
  known.set(expression, made);
  return made;
}

let environment: Environment | undefined;

/** Another parser knows where and why most of what is not by the grammar cannot be read; it runs nothing. */
function unreadable(expression: string): Judgement {
  environment ??= new Environment({
    enableOptionalTypes: true,
    limits: { maxAstNodes: 20_000, maxDepth: 250 },
  });
  try {
    environment.parse(expression);
  } catch (error) {
    const { summary, range } = error as Partial<Unreadable> & { range?: { start: number; end: number } };
    if (summary !== undefined && range !== undefined)
      return { problem: syntaxProblem(expression, { summary, start: range.start, end: range.end }) };
  }
  return { problem: located(expression, 0, 'Syntax error: not by the grammar of CEL') };
}
