import { type Budget, RunError } from './eval/budget.ts';
import { type Program, program } from './eval/program.ts';
import { none, Optional } from './eval/values.ts';
import { children, type Expr } from './typed/expr.ts';
import { parse } from './typed/parser.ts';

export {
  type AccessAnswer,
  type AccessQuestion,
  CelAuthorizer,
} from './eval/authorizer.ts';
export { Budget, CostExceeded, perConditions, perRequest, Unanswered } from './eval/budget.ts';

/** One expression, ready to run many times. */
export interface Rule {
  /** Whether it looks at what was there before. */
  usesOldSelf: boolean;
  /** Throws RunError for one that fails, CostExceeded for one that the budget does not last for. */
  run(variables: { self: unknown; oldSelf?: unknown }, budget: Budget): unknown;
}

const mostPrograms = 5000;
/** A program takes some hundred bytes for each character. */
const mostText = 1_000_000;

/** Programs by their text. Never throws: an expression that cannot be read is an Error, whose message says why. */
class Programs<T> {
  readonly #known = new Map<string, T | Error>();
  readonly #make: (expr: Expr) => T;
  #text = 0;

  constructor(make: (expr: Expr) => T) {
    this.#make = make;
  }

  get(expression: string): T | Error {
    const known = this.#known.get(expression);
    if (known) return known;
    this.#text += expression.length;
    if (this.#known.size >= mostPrograms || this.#text > mostText) {
      this.#known.clear();
      this.#text = expression.length;
    }
    const made = this.#read(expression);
    this.#known.set(expression, made);
    return made;
  }

  #read(expression: string): T | Error {
    const parsed = parse(expression);
    if (!parsed) return new RunError('Syntax error');
    const [issue] = parsed.issues;
    if (issue) return new RunError(issue.message);
    try {
      return this.#make(parsed.expr);
    } catch (error) {
      if (error instanceof RunError) return error;
      throw error;
    }
  }
}

const rules = new Programs<Rule>((expr) => {
  const run: Program = program(expr, ['self', 'oldSelf']);
  return {
    usesOldSelf: names(expr, 'oldSelf'),
    run: ({ self, oldSelf }, budget) => run([self, oldSelf ?? null], budget),
  };
});

/** A rule of a definition. */
export function compileRule(expression: string): Rule | Error {
  return rules.get(expression);
}

const conditionNames = [
  'object',
  'oldObject',
  'request',
  'authorizer',
  'authorizer.requestResource',
] as const;

/**
 * A webhook's match condition; its variables are CEL values (value.ts), null where there is nothing, and a CelAuthorizer
 * with what it is about.
 */
export type Condition = (
  variables: Readonly<Partial<Record<(typeof conditionNames)[number], unknown>>>,
  budget: Budget,
) => unknown;

const conditions = new Programs<Condition>(withNames(conditionNames));

/** As compileRule, for https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions */
export function compileCondition(expression: string): Condition | Error {
  return conditions.get(expression);
}

const policyNames = [...conditionNames, 'params', 'namespaceObject', 'variables'] as const;

/** An expression of an admission policy; its variables are as a Condition's. */
export type PolicyExpression = (
  variables: Readonly<Partial<Record<(typeof policyNames)[number], unknown>>>,
  budget: Budget,
) => unknown;

const ofPolicies = new Programs<PolicyExpression>(withNames(policyNames));

/** As compileRule, for https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
export function compilePolicyExpression(expression: string): PolicyExpression | Error {
  return ofPolicies.get(expression);
}

/** A rule or mapping of a token's claims, or of the user that came of them. */
export type TokenRule = (value: unknown, budget: Budget) => unknown;

const ofClaims = new Programs<TokenRule>((expr) => {
  const run = program(expr, ['claims']);
  return (claims, budget) => run([claims], budget);
});
const ofUsers = new Programs<TokenRule>((expr) => {
  const run = program(expr, ['user']);
  return (user, budget) => run([user], budget);
});

/** As compileRule, for https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration */
export function compileTokenRule(of: 'claims' | 'user', expression: string): TokenRule | Error {
  return (of === 'claims' ? ofClaims : ofUsers).get(expression);
}

/** What is asked of a physical cluster. */
export type ClusterRule = (cluster: unknown, budget: Budget) => unknown;

const ofClusters = new Programs<ClusterRule>((expr) => {
  const run = program(expr, ['cluster']);
  return (cluster, budget) => run([cluster], budget);
});

/** As compileRule, of a placement policy: docs/reference/policies.md */
export function compileClusterRule(expression: string): ClusterRule | Error {
  return ofClusters.get(expression);
}

/** An optional that holds `value`, or nothing when it is undefined. */
export function optional(value: unknown): unknown {
  return value === undefined ? none : new Optional(value);
}

function names(expr: Expr, name: string): boolean {
  if (expr.op === 'ident' && expr.name === name) return true;
  return children(expr).some((child) => names(child, name));
}

function withNames<N extends string>(all: readonly N[]) {
  return (expr: Expr) => {
    const run = program(expr, all);
    return (variables: Readonly<Partial<Record<N, unknown>>>, budget: Budget) =>
      run(
        all.map((name) => variables[name]),
        budget,
      );
  };
}
