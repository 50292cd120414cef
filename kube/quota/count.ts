import type { KubeObject } from '../object.ts';
import { type Quantity, zeroQuantity } from '../quantity.ts';
import { record } from '../untyped.ts';
import type { Evaluator } from './evaluator.ts';
import { addTo, only, type ResourceList, readList } from './list.ts';
import { scopesOf } from './scope.ts';

/** The objects of one resource in the quota's namespace. */
export interface Counted {
  evaluator: Evaluator;
  objects: Iterable<KubeObject>;
}

/**
 * What is used of a quota's hard limits, counted anew. A name under which nobody counts is not in it, nor one whose
 * resource is not in `counted`.
 */
export function countUsed(
  quota: KubeObject,
  counted: readonly Counted[],
  usageOf: (evaluator: Evaluator, object: KubeObject) => ResourceList,
): Map<string, Quantity> {
  const names = [...readList(record(quota.spec)['hard']).keys()];
  const scopes = scopesOf(quota);
  const sum = new Map<string, Quantity>();
  for (const { evaluator, objects } of counted) {
    for (const name of names) if (evaluator.counts(name) && !sum.has(name)) sum.set(name, zeroQuantity);
    for (const object of objects) {
      if (scopes.every((scope) => evaluator.matches(scope, object))) addTo(sum, usageOf(evaluator, object));
    }
  }
  return only(sum, names);
}
