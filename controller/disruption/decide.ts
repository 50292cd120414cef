import type { KubeObject } from '../../kube/object.ts';
import { isRecord, numberAt, textAt } from '../../kube/untyped.ts';

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
}

export type Budget = KubeObject<
  Record<string, unknown>,
  { observedGeneration?: number; conditions?: Condition[]; [field: string]: unknown }
>;

const type = 'DisruptionAllowed';

/**
 * The status of a PodDisruptionBudget whose pods run nowhere, as the disruption controller has it; undefined: it is so.
 * https://kubernetes.io/docs/tasks/run-application/configure-pdb/
 */
export function statusOfNoPods(
  { metadata, spec, status }: Budget,
  now: string,
): Budget['status'] | undefined {
  const { generation = 0 } = metadata;
  const conditions = status?.conditions ?? [];
  const before = conditions.find((one) => one.type === type);
  const isSo = status?.observedGeneration === generation && before?.status === 'False';
  if (isSo && numberAt(status, 'expectedPods') === 0) return undefined;
  const least = isRecord(spec) ? numberAt(spec, 'minAvailable') : undefined;
  const lastTransitionTime = before?.status === 'False' ? textAt(before, 'lastTransitionTime') : undefined;
  const condition = {
    type,
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: generation,
    lastTransitionTime: lastTransitionTime ?? now,
  };
  return {
    observedGeneration: generation,
    disruptionsAllowed: 0,
    currentHealthy: 0,
    expectedPods: 0,
    // A percentage of no pods is none.
    desiredHealthy: least ?? 0,
    conditions: [...conditions.filter((one) => one.type !== type), condition],
  };
}
