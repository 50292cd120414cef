import { stepsOf } from '../cluster/placed-resource.ts';
import { originOf, setAt } from '../cluster/ruled.ts';
import { Budget, compileRule } from '../kube/cel/rule.ts';
import { toCel } from '../kube/cel/value.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, listAt, numberAt } from '../kube/untyped.ts';

/** Some milliseconds at most: it is asked each time anything of the object changes. */
const most = 100_000;

/**
 * Whether a cluster has in place what a rule is about: as the rule says it, of the object with so many replicas and with
 * the status that the cluster says. What fails, or is no yes, is a no.
 */
export function isRuledServing(root: KubeObject, wanted: number, status: unknown): boolean {
  const origin = originOf(root);
  if (!origin) return false;
  const { object, rule } = origin;
  const { specReplicasPath, ready } = rule;
  if (ready === undefined)
    return specReplicasPath === undefined ? isSaidReady(status) : isFull(wanted, status);
  const expression = compileRule(ready);
  if (expression instanceof Error) return false;
  const there = specReplicasPath === undefined ? object : setAt(object, stepsOf(specReplicasPath), wanted);
  try {
    const budget = new Budget(most);
    const self = toCel({ ...there, status: status ?? {} }, undefined, budget);
    return expression.run({ self }, budget) === true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

function isFull(wanted: number, status: unknown): boolean {
  const available = numberAt(status, 'availableReplicas') ?? numberAt(status, 'readyReplicas') ?? 0;
  return available >= wanted && (numberAt(status, 'updatedReplicas') ?? wanted) >= wanted;
}

/** What has no such condition is there as soon as it is applied. */
function isSaidReady(status: unknown): boolean {
  const said = listAt(status, 'conditions').filter((c) =>
    ['Ready', 'Available'].includes(String(at(c, 'type'))),
  );
  return said.every((condition) => at(condition, 'status') === 'True');
}
