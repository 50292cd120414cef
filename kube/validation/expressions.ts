import { type Judgement, judge } from '../cel/compile.ts';
import type { Declarations } from '../cel/typed/environment.ts';
import type { StatusCause } from '../status.ts';
import type { Field } from './field.ts';

/** Of one object, in characters: nobody has a turn while they are judged. */
const mostRead = 500_000;
/** What judging takes however short the expression is. */
const leastRead = 20;

/** By where the causes about the object go. */
const read = new WeakMap<StatusCause[], number>();

/** Judges an expression of the object that `root` or a field below it is about; of all together only so much. */
export function judgeOf(root: Field, expression: string, declarations: Declarations): Judgement {
  const sum = (read.get(root.causes) ?? 0) + Math.max(expression.length, leastRead);
  read.set(root.causes, sum);
  if (sum <= mostRead) return judge(expression, declarations);
  return { problem: `all expressions of an object together may not be more than ${mostRead} characters` };
}
