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
  /** Why it cannot run, though it is well typed, as kube-apiserver tells it after `program instantiation failed: `. */
  unstartable?: string;
  /** The variables that it names. */
  names?: ReadonlySet<string>;
  /** What judging took beside reading it: types that were looked at, and the like. */
  steps: number;
}

const judged = new WeakMap<Declarations, { known: Map<string, Judgement>; weight: number }>();
const mostJudged = 1000;
/** A judgement takes some hundred bytes for each character, and a tenth of that for each step. */
const mostWeight = 100_000;
const stepsPerWeight = 10;

/**
 * Judges an expression in the words of the reference implementation. Declarations that are kept remember their
 * expressions. https://kubernetes.io/docs/reference/using-api/cel/
 */
export function judge(expression: string, declarations: Declarations): Judgement {
  const kept = judged.get(declarations) ?? { known: new Map<string, Judgement>(), weight: 0 };
  judged.set(declarations, kept);
  const before = kept.known.get(expression);
  if (before) return before;
  const made = compiled(expression, declarations) ?? unreadable(expression);
  const weight = expression.length + made.steps / stepsPerWeight;
  kept.weight += weight;
  if (kept.known.size >= mostJudged || kept.weight > mostWeight) {
    kept.known.clear();
    kept.weight = weight;
  }
  kept.known.set(expression, made);
  return made;
}

function compiled(expression: string, declarations: Declarations): Judgement | undefined {
  try {
    return compile(expression, declarations);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {
      problem: located(expression, -1, 'expression is too deep to be judged'),
      steps: unreadableSteps,
    };
  }
}

let environment: Environment | undefined;
/** At most so much was copied before it was found to be no expression. */
const unreadableSteps = 10_000;

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
      return {
        problem: syntaxProblem(expression, { summary, start: range.start, end: range.end }),
        steps: unreadableSteps,
      };
  }
  return {
    problem: located(expression, 0, 'Syntax error: not by the grammar of CEL'),
    steps: unreadableSteps,
  };
}
