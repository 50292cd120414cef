import type { Budget } from './budget.ts';
import type { Value } from './values.ts';

/** A function of a library; of a member, what it is called on comes first. Charges for what it walks through. */
export type Run = (budget: Budget, ...args: Value[]) => Value;
