import { Budget, compileCondition, perConditions } from '../../../kube/cel/rule.ts';
import { toCel } from '../../../kube/cel/value.ts';
import { forbidden } from '../../../kube/status.ts';
import { type Access, answered } from '../matching/access.ts';
import { type Question, requestOf } from '../matching/question.ts';
import { failureOf } from '../policy/evaluate.ts';
import type { Hook } from './hook.ts';

/**
 * Whether all match conditions hold. One that is false settles it; otherwise one that fails is the failure of the
 * webhook: failurePolicy Fail refuses the request with 403, Ignore leaves the webhook out.
 */
export async function meetsConditions(hook: Hook, question: Question, access: Access): Promise<boolean> {
  if (hook.matchConditions.length === 0) return true;
  const variables = {
    object: toCel(question.object ?? null, undefined),
    oldObject: toCel(question.old ?? null, undefined),
    request: toCel(requestOf(question), undefined),
    ...access.variables(question),
  };
  const budget = new Budget(perConditions);
  const failures: string[] = [];
  for (const { expression } of hook.matchConditions) {
    const condition = compileCondition(expression);
    try {
      if (condition instanceof Error) throw condition;
      const holds = await answered(() => budget.within((share) => condition(variables, share)));
      if (holds === false) return false;
      if (holds !== true) throw new Error('must evaluate to bool');
    } catch (error) {
      failures.push(failureOf(expression, error));
    }
  }
  if (failures.length === 0) return true;
  if (hook.ignoreFailure) return false;
  const why = failures.length === 1 ? (failures[0] ?? '') : `[${failures.join(', ')}]`;
  throw forbidden(question.requestResource, question.name, why);
}
