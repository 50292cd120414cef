import { record } from '../../untyped.ts';
import type { SubresourceCheck } from '../kind.ts';
import { nonNegative } from '../rules.ts';
import { conditions } from './conditions.ts';

const counted = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

/** https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/pod-disruption-budget-v1/ */
const budget: SubresourceCheck = (object, _old, root) => {
  const status = record(object.status);
  const field = root.child('status');
  conditions(status['conditions'], field.child('conditions'));
  for (const name of counted) nonNegative(status[name], field.child(name));
};

export const budgetStatuses: Readonly<Record<string, SubresourceCheck>> = {
  'policy/PodDisruptionBudget/status': budget,
};
