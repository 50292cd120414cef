import type { Environment } from '@marcbachmann/cel-js';
import { createEnvironment } from './environment.ts';
import { rewritten, survey } from './rewrite.ts';

/** One expression, ready to run many times. */
export interface Program {
  /** Whether it looks at what was there before. */
  usesOldSelf: boolean;
  run(variables: { self: unknown; oldSelf?: unknown }): unknown;
}

let environment: Environment | undefined;

const programs = new Map<string, Program | Error>();
const mostPrograms = 5000;

/** Never throws: an expression that cannot be read is an Error, whose message says why. */
export function compileRule(expression: string): Program | Error {
  const known = programs.get(expression);
  if (known) return known;
  if (programs.size >= mostPrograms) programs.clear();
  const made = compile(expression);
  programs.set(expression, made);
  return made;
}

function compile(expression: string): Program | Error {
  environment ??= createEnvironment(['self', 'oldSelf']);
  try {
    const { depth, names } = survey(environment.parse(expression).ast);
    const parsed = environment.parse(rewritten(environment, expression));
    return {
      usesOldSelf: names.has('oldSelf'),
      run: ({ self, oldSelf }) => {
        refuseCostly(depth, self, oldSelf);
        return parsed({ self, oldSelf: oldSelf ?? null });
      },
    };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const conditionVariables = ['object', 'oldObject', 'request'] as const;
let conditions: Environment | undefined;
const compiledConditions = new Map<string, Condition | Error>();

/** A webhook's match condition; its variables are CEL values (value.ts), null where there is nothing. */
export type Condition = (variables: Record<(typeof conditionVariables)[number], unknown>) => unknown;

/** As compileRule, for https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions */
export function compileCondition(expression: string): Condition | Error {
  const known = compiledConditions.get(expression);
  if (known) return known;
  if (compiledConditions.size >= mostPrograms) compiledConditions.clear();
  conditions ??= createEnvironment(conditionVariables);
  let made: Condition | Error;
  try {
    const { depth } = survey(conditions.parse(expression).ast);
    const parsed = conditions.parse(rewritten(conditions, expression));
    made = (variables) => {
      refuseCostly(depth, variables.object, variables.oldObject);
      return parsed(variables);
    };
  } catch (error) {
    made = error instanceof Error ? error : new Error(String(error));
  }
  compiledConditions.set(expression, made);
  return made;
}

/** An optional that holds `value`, or nothing when it is undefined. */
export function optional(value: unknown): unknown {
  environment ??= createEnvironment(['self', 'oldSelf']);
  if (value === undefined) return environment.evaluate('optional.none()', { self: null, oldSelf: null });
  return environment.evaluate('optional.of(self)', { self: value, oldSelf: null });
}

/** Raised instead of an answer when finding it would take too long. */
export class CostExceeded extends Error {}

const mostSteps = 2_000_000;

/** Loops within loops over a large value: the steps are the number of its parts to the power of the depth. */
function refuseCostly(depth: number, ...values: unknown[]): void {
  if (depth < 2) return;
  let largest = 0;
  const pending = [...values];
  while (pending.length > 0) {
    const at = pending.pop();
    if (typeof at !== 'object' || at === null || at instanceof Uint8Array) continue;
    const items = Object.values(at);
    largest = Math.max(largest, items.length);
    for (const item of items) if (typeof item === 'object') pending.push(item);
  }
  if (largest ** depth > mostSteps) throw new CostExceeded();
}
