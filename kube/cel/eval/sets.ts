import type { Budget } from './budget.ts';
import { isEqual } from './operators.ts';
import type { Run } from './run.ts';
import { noOverload, type Value } from './values.ts';

function has(budget: Budget, item: Value, list: Value): boolean {
  if (!Array.isArray(list)) throw noOverload();
  return list.some((one) => isEqual(item, one, budget));
}

function contains(budget: Budget, list: Value, all: Value): boolean {
  if (!Array.isArray(all)) throw noOverload();
  return all.every((item) => has(budget, item, list));
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-list-library, as far as it is about sets */
const functions: Readonly<Record<string, Run>> = {
  'sets.contains': contains,
  'sets.equivalent': (budget, a, b) => contains(budget, a, b) && contains(budget, b, a),
  'sets.intersects': (budget, a, b) => {
    if (!Array.isArray(a)) throw noOverload();
    return a.some((item) => has(budget, item, b));
  },
};

export const sets = { functions, has };
