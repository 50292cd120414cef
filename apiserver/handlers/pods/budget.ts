import type { KubeObject } from '../../../kube/object.ts';
import { forbidden, StatusError } from '../../../kube/status.ts';

/** PodDisruptionBudget arithmetic of an eviction. https://kubernetes.io/docs/tasks/run-application/configure-pdb/ */
export interface BudgetStatus {
  observedGeneration?: number;
  disruptionsAllowed?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  expectedPods?: number;
  disruptedPods?: Record<string, string>;
  conditions?: {
    type: string;
    status: string;
    reason?: string;
    message?: string;
    [field: string]: unknown;
  }[];
}

const violation = "Cannot evict pod as it would violate the pod's disruption budget.";
const maxDisrupted = 2000;

/** The budget's status after the eviction of `pod`; throws StatusError 429 or 403 when it does not allow one. */
export function spend(budget: KubeObject, pod: string, now: string): BudgetStatus {
  const status = (budget.status ?? {}) as BudgetStatus;
  const { name = '', generation = 0 } = budget.metadata;
  const of = { group: 'policy', resource: 'poddisruptionbudget' };
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessed(name);
  const allowed = status.disruptionsAllowed ?? 0;
  if (allowed < 0) throw forbidden(of, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > maxDisrupted) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden(of, name, why);
  }
  if (allowed === 0) throw refusal(0, whyNone(name, status));
  const next: BudgetStatus = {
    ...status,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...status.disruptedPods, [pod]: now },
  };
  if (allowed === 1) next.conditions = exhausted(status, now);
  return next;
}

/** An unready pod is no loss while its application is healthy, or when the budget says so. */
export function spares(budget: KubeObject, pod: KubeObject): boolean {
  const { conditions = [] } = (pod.status ?? {}) as BudgetStatus;
  if (conditions.some((one) => one.type === 'Ready' && one.status === 'True')) return false;
  const { unhealthyPodEvictionPolicy } = (budget.spec ?? {}) as { unhealthyPodEvictionPolicy?: string };
  if (unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = (budget.status ?? {}) as BudgetStatus;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

export function stillProcessed(name: string): StatusError {
  return refusal(10, `The disruption budget ${name} is still being processed by the server.`);
}

function whyNone(
  name: string,
  { conditions = [], currentHealthy = 0, desiredHealthy = 0 }: BudgetStatus,
): string {
  const condition = conditions.find((one) => one.type === 'DisruptionAllowed');
  const said = condition?.status === 'False' && condition.message ? condition : undefined;
  const refused = `The disruption budget ${name} does not allow evicting pods currently`;
  if (said?.reason === 'SyncFailed') return `${refused} because it failed sync: ${said.message}`;
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return said ? `${refused} (${said.reason}): ${said.message}` : refused;
}

function refusal(retryAfterSeconds: number, message: string): StatusError {
  const causes = [{ reason: 'DisruptionBudget', message }];
  const details = { causes, ...(retryAfterSeconds > 0 && { retryAfterSeconds }) };
  return new StatusError(429, 'TooManyRequests', violation, details);
}

/** In its place among the conditions, with the time since when it is so. */
function exhausted({ conditions = [], observedGeneration }: BudgetStatus, now: string) {
  const at = conditions.findIndex((one) => one.type === 'DisruptionAllowed');
  const there = conditions[at];
  const next = {
    ...there,
    type: 'DisruptionAllowed',
    status: 'False',
    ...(observedGeneration !== undefined && { observedGeneration }),
    reason: 'InsufficientPods',
    message: '',
    lastTransitionTime: there?.status === 'False' ? (there['lastTransitionTime'] ?? now) : now,
  };
  return there ? conditions.with(at, next) : [...conditions, next];
}
