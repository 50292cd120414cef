import { type Budget, Interruption } from './budget.ts';
import { noOverload, type Value } from './values.ts';

/** One run: what names stand for, and what it may still cost. */
export interface Frame {
  values: Value[];
  budget: Budget;
}

export type Step = (frame: Frame) => Value;

export const nothing: Step = () => undefined;

/** What an accumulator holds while its test fails: a later element may settle it. */
export class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A failure costs more than a look at a value. */
const failureSteps = 50;

/** The value, or the failure, which is told when nothing settles the matter. */
export function attempt(frame: Frame, step: Step): Value {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof Interruption) throw error;
    frame.budget.charge(failureSteps);
    return new Failed(error);
  }
}

/** `and` and `or`: the operand that settles them does so whatever becomes of the other. */
export function settled(frame: Frame, a: Step, b: Step, decisive: boolean): boolean {
  const left = attempt(frame, a);
  if (left === decisive) return decisive;
  const right = attempt(frame, b);
  if (right === decisive) return decisive;
  for (const one of [left, right]) if (one instanceof Failed) throw one.error;
  if (typeof left !== 'boolean' || typeof right !== 'boolean') throw noOverload();
  return !decisive;
}
