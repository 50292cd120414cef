import { Budget, compileCondition, perConditions } from '../../../kube/cel/rule.ts';
import { toCel } from '../../../kube/cel/value.ts';
import { forbidden } from '../../../kube/status.ts';
import type { Hook } from './hook.ts';
import type { Question } from './review.ts';

/**
 * Whether all match conditions hold. One that is false settles it; otherwise one that fails is the failure of the
 * webhook: failurePolicy Fail refuses the request with 403, Ignore leaves the webhook out.
 */
export function meetsConditions(hook: Hook, question: Question): boolean {
  if (hook.matchConditions.length === 0) return true;
  const variables = {
    object: toCel(question.object ?? null, undefined),
    oldObject: toCel(question.old ?? null, undefined),
    request: toCel(requestOf(question), undefined),
  };
  const budget = new Budget(perConditions);
  const failures: string[] = [];
  for (const { expression } of hook.matchConditions) {
    const condition = compileCondition(expression);
    try {
      if (condition instanceof Error) throw condition;
      const holds = budget.within((share) => condition(variables, share));
      if (holds === false) return false;
      if (holds !== true) throw new Error('must evaluate to bool');
    } catch (error) {
      failures.push(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
  }
  if (failures.length === 0) return true;
  if (hook.ignoreFailure) return false;
  const why = failures.length === 1 ? (failures[0] ?? '') : `[${failures.join(', ')}]`;
  throw forbidden(question.requestResource, question.name, why);
}

/** The request as expressions see it: what is empty is there. */
function requestOf(question: Question): Record<string, unknown> {
  const { kind, resource, requestKind, requestResource, user, options } = question;
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const gvr = { group: resource.group, version: resource.version, resource: resource.resource };
  return {
    kind: gvk,
    resource: gvr,
    subResource: question.subresource,
    requestKind: { group: requestKind.group, version: requestKind.version, kind: requestKind.kind },
    requestResource: {
      group: requestResource.group,
      version: requestResource.version,
      resource: requestResource.resource,
    },
    requestSubResource: question.subresource,
    name: question.name,
    namespace: question.namespace,
    operation: question.operation,
    userInfo: {
      username: user.name,
      uid: user.uid ?? '',
      groups: [...user.groups],
      extra: user.extra ?? {},
    },
    dryRun: question.dryRun,
    options: options ?? null,
  };
}
