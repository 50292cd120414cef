import { compilePolicyExpression, type PolicyExpression, Unanswered } from '../../../kube/cel/rule.ts';
import type { Later } from '../../../kube/later.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { type Access, answered } from '../matching/access.ts';
import { type Question, requestOf } from '../matching/question.ts';
import type { Costs } from './costs.ts';
import type { Named, ValidatingPolicy, Validation } from './policy.ts';

/** Why a policy is against a request. */
export interface Denial {
  message: string;
  reason: string;
  /** Of the validation; undefined where it is none, and what a binding makes of those does not count. */
  index: number | undefined;
}

export interface Verdict {
  denials: Denial[];
  annotations: { name: string; value: string }[];
}

export interface Subject {
  question: Question;
  /** Undefined: there is no authorizer. */
  access: Access | undefined;
  params: KubeObject | undefined;
  /** That of the request, where it is in one. */
  namespace: KubeObject | undefined;
}

type Variables = Parameters<PolicyExpression>[0];

const longestMessage = 5 * 1024;

/**
 * What a policy has against a request, in the order of its validations. What fails is against it, too, unless the policy
 * ignores that.
 * https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
export async function verdictOf(policy: ValidatingPolicy, subject: Subject, costs: Costs): Promise<Verdict> {
  const failed = (message: string, index = 0): Denial[] =>
    policy.ignoresFailure ? [] : [{ message, reason: 'Invalid', index }];
  let variables: Variables;
  await costs.turn();
  try {
    costs.policy();
    variables = variablesOf(policy.variables, subject, costs);
    if (!(await meets(policy.matchConditions, variables, costs))) return { denials: [], annotations: [] };
  } catch (error) {
    return { denials: failed(messageOf(error)), annotations: [] };
  }
  // They are composed without an authorizer, from variables of their own.
  const messages = variablesOf(policy.variables, { ...subject, access: undefined }, costs);
  const denials: Denial[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    const { expression, reason } = validation;
    await costs.turn();
    try {
      if ((await evaluated(expression, variables, costs)) === true) continue;
      denials.push({ message: await said(validation, messages, costs), reason, index });
    } catch (error) {
      denials.push(...failed(failureOf(expression, error), index));
    }
  }
  const annotations: Verdict['annotations'] = [];
  for (const { name, expression } of policy.annotations) {
    await costs.turn();
    try {
      const value = await evaluated(expression, variables, costs);
      if (typeof value === 'string' && value.trim() !== '') annotations.push({ name, value: value.trim() });
    } catch (error) {
      for (const one of failed(failureOf(expression, error))) denials.push({ ...one, index: undefined });
    }
  }
  return { denials, annotations };
}

/** One that is false settles it, whatever fails beside it; else throws what failed. */
export async function meets(
  conditions: readonly Named[],
  variables: Variables,
  costs: Costs,
): Promise<boolean> {
  const failures: string[] = [];
  for (const { expression } of conditions) {
    try {
      const holds = await evaluated(expression, variables, costs);
      if (holds === false) return false;
      if (holds !== true) failures.push('must evaluate to bool');
    } catch (error) {
      failures.push(failureOf(expression, error));
    }
  }
  if (failures.length > 0) throw new Error(failures.length > 1 ? `[${failures.join(', ')}]` : failures[0]);
  return true;
}

/** Fails where it does. The variables that it uses are found on its own share. */
export function evaluated(expression: string, variables: Variables, costs: Costs): Later<unknown> {
  return answered(() => foundNow(expression, variables, costs));
}

/** Throws Unanswered while an answer that it needs is not here. */
function foundNow(expression: string, variables: Variables, costs: Costs): unknown {
  const run = compilePolicyExpression(expression.trim());
  if (run instanceof Error) throw new Error(`compilation error: ${run.message}`);
  return costs.within((share) => run(variables, share));
}

/** Its expression's, where that is one line of text; else its own; else what did not hold. */
async function said(
  { expression, message, messageExpression }: Validation,
  variables: Variables,
  costs: Costs,
): Promise<string> {
  return (
    (await composed(messageExpression, variables, costs)) ||
    message.trim() ||
    `failed expression: ${expression.trim()}`
  );
}

async function composed(expression: string, variables: Variables, costs: Costs): Promise<string> {
  if (expression === '') return '';
  try {
    const value = await evaluated(expression, variables, costs);
    const text = typeof value === 'string' ? value.trim() : '';
    return text.includes('\n') || Buffer.byteLength(text) > longestMessage ? '' : text;
  } catch {
    return '';
  }
}

/** The policy's own are found when they are used, once; of two of one name the last. Throws CostExceeded. */
export function variablesOf(
  own: readonly Named[],
  { question, access, params, namespace }: Subject,
  costs: Costs,
): Variables {
  const composite: Record<string, unknown> = {};
  const all: Variables = {
    object: costs.shown(question.object),
    oldObject: costs.shown(question.old),
    request: costs.shown(question, requestOf),
    params: costs.shown(params),
    namespaceObject: costs.shown(namespace),
    variables: composite,
    ...access?.variables(question),
  };
  for (const { name, expression } of new Map(own.map((one) => [one.name, one])).values()) {
    let found: { value: unknown } | undefined;
    Object.defineProperty(composite, name, {
      enumerable: true,
      get: () => {
        found ??= { value: composited(name, () => foundNow(expression, all, costs)) };
        return found.value;
      },
    });
  }
  return all;
}

/** Its failures say whose they are. */
function composited(name: string, run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && !(error instanceof Unanswered))
      error.message = `composited variable "${name}" fails to evaluate: ${error.message}`;
    throw error;
  }
}

/** As kube-apiserver says that an expression failed. */
export function failureOf(expression: string, error: unknown): string {
  return `expression '${expression}' resulted in error: ${messageOf(error)}`;
}

/** In a line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}
