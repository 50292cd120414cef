import { scaledIntOrPercent } from '../../kube/int-or-string.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Pod, Selector, Workload } from '../types.ts';
import { isActive, isReady, withTransitions } from '../workloads/children.ts';

export interface DisruptionSpec {
  selector?: Selector;
  minAvailable?: number | string;
  maxUnavailable?: number | string;
}

export type DisruptionBudget = KubeObject<DisruptionSpec, Record<string, unknown>>;

/**
 * What a PodDisruptionBudget says of the pods that it selects; `owners` are the workloads that may have made them.
 * https://kubernetes.io/docs/concepts/workloads/pods/disruptions/
 */
export function disruptionStatus(
  budget: DisruptionBudget,
  pods: readonly Pod[],
  owners: readonly Workload[],
  now: string,
): Record<string, unknown> {
  const active = pods.filter(isActive);
  const expected = expectedPods(active, owners);
  const desired = desiredHealthy(budget.spec ?? {}, expected);
  const current = active.filter(isReady).length;
  const allowed = expected === 0 ? 0 : Math.max(0, current - desired);
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
  const [kept = {}] = withTransitions([condition], budget.status?.['conditions'], now);
  const { lastUpdateTime: _, ...shown } = kept;
  return {
    observedGeneration: budget.metadata.generation ?? 0,
    expectedPods: expected,
    desiredHealthy: desired,
    currentHealthy: current,
    disruptionsAllowed: allowed,
    conditions: [shown],
  };
}

/** What the pods' controllers want to have; a pod without one counts for itself. */
function expectedPods(pods: readonly Pod[], owners: readonly Workload[]): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    const uid = pod.metadata.ownerReferences?.find((ref) => ref.controller)?.uid;
    const owner = owners.find((one) => one.metadata.uid === uid);
    const key = owner?.metadata.uid ?? pod.metadata.uid ?? '';
    wanted.set(key, owner ? (owner.spec?.replicas ?? 1) : 1);
  }
  return [...wanted.values()].reduce((sum, n) => sum + n, 0);
}

function desiredHealthy(spec: DisruptionSpec, expected: number): number {
  if (spec.maxUnavailable !== undefined)
    return Math.max(0, expected - scaledIntOrPercent(spec.maxUnavailable, expected, 'up'));
  return scaledIntOrPercent(spec.minAvailable ?? 0, expected, 'up');
}
