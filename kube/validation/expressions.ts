import { type Judgement, judge } from '../cel/compile.ts';
import type { Declarations } from '../cel/typed/environment.ts';
import type { StatusCause } from '../status.ts';
import type { Field } from './field.ts';

/** Of one object, in characters, and in steps (Judgement): nobody has a turn while they are judged. */
const mostRead = 500_000;
const mostSteps = 1_000_000;
/** What judging takes however short the expression is. */
const leastRead = 20;

/** By where the causes about the object go. */
const spent = new WeakMap<StatusCause[], { read: number; steps: number }>();

/** Judges an expression of the object that `root` or a field below it is about; of all together only so much. */
export function judgeOf(root: Field, expression: string, declarations: Declarations): Judgement {
  const sum = spent.get(root.causes) ?? { read: 0, steps: 0 };
  spent.set(root.causes, sum);
  sum.read += Math.max(expression.length, leastRead);
  if (sum.read > mostRead) return refused(`be more than ${mostRead} characters`);
  if (sum.steps > mostSteps) return refused('take that long to be judged');
  const judgement = judge(expression, declarations);
  sum.steps += judgement.steps;
  return judgement;
}

function refused(what: string): Judgement {
  return { problem: `all expressions of an object together may not ${what}`, steps: 0 };
}
