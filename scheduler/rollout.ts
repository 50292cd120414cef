import { originOf } from '../cluster/ruled.ts';
import type { KubeObject } from '../kube/object.ts';
import { listAt, numberAt } from '../kube/untyped.ts';

/** What counts the pods of the newest template, and what counts all. */
const counters: Readonly<Record<string, readonly [updated: string, all: string]>> = {
  Deployment: ['updatedReplicas', 'replicas'],
  StatefulSet: ['updatedReplicas', 'replicas'],
  DaemonSet: ['updatedNumberScheduled', 'currentNumberScheduled'],
};

/**
 * Whether no pod of a former template is left, as far as a workload's status says: those go on using what that template
 * names. https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
 */
export function isRolledOut(workload: KubeObject): boolean {
  // It never says which template it knows; what it began runs to its end with that of then.
  if (workload.kind === 'CronJob') return listAt(workload, 'status', 'active').length === 0;
  // By whatever it says it: as far as it counts.
  if (originOf(workload)) {
    const { updatedReplicas, replicas } = (workload.status ?? {}) as Record<string, unknown>;
    return typeof updatedReplicas !== 'number' || typeof replicas !== 'number' || updatedReplicas >= replicas;
  }
  const [updated, all] = counters[workload.kind ?? ''] ?? [];
  if (updated === undefined || all === undefined) return true;
  const said = (name: string) => numberAt(workload, 'status', name) ?? 0;
  return said('observedGeneration') >= (workload.metadata.generation ?? 0) && said(updated) >= said(all);
}
