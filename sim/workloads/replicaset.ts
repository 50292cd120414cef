import type { Plan, Pod, Workload } from '../types.ts';
import { byDispensability, count, isActive, isTerminating, podFor } from './children.ts';

/**
 * A ReplicaSet or ReplicationController: as many active pods as it asks for. One that is being deleted leaves its
 * pods to the garbage collector, which knows whether they are to be orphaned.
 */
export function decideReplicaSet(set: Workload, pods: readonly Pod[], now: number): Plan<Pod> {
  const active = pods.filter(isActive);
  const want = set.metadata.deletionTimestamp ? active.length : (set.spec?.replicas ?? 1);
  const surplus = [...active].sort(byDispensability).slice(0, Math.max(0, active.length - want));
  const counts = count(active, set.spec?.minReadySeconds ?? 0, now);
  return {
    create: Array.from({ length: Math.max(0, want - active.length) }, () => podFor(set)),
    remove: surplus.map((pod) => pod.metadata.name ?? ''),
    patch: [],
    status: {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: counts.ready,
      availableReplicas: counts.available,
      ...(set.kind === 'ReplicaSet' && { terminatingReplicas: pods.filter(isTerminating).length }),
      observedGeneration: set.metadata.generation ?? 0,
    },
    ...(counts.afterMs !== undefined && { afterMs: counts.afterMs }),
  };
}
