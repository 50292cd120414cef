import type { Plan, Pod, Workload } from '../types.ts';
import { byDispensability, count, isActive, podFor } from './children.ts';

/** A ReplicaSet or ReplicationController: as many active pods as it asks for. */
export function decideReplicaSet(set: Workload, pods: readonly Pod[], now: number): Plan<Pod> {
  const active = pods.filter(isActive);
  const want = set.metadata.deletionTimestamp ? 0 : (set.spec?.replicas ?? 1);
  const missing = Math.max(0, want - active.length);
  const surplus = [...active].sort(byDispensability).slice(0, Math.max(0, active.length - want));
  const counts = count(active, set.spec?.minReadySeconds ?? 0, now);
  return {
    create: Array.from({ length: missing }, () => podFor(set)),
    remove: surplus.map((pod) => pod.metadata.name ?? ''),
    scale: [],
    status: {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: counts.ready,
      availableReplicas: counts.available,
      observedGeneration: set.metadata.generation ?? 0,
    },
    ...(counts.afterMs !== undefined && { afterMs: counts.afterMs }),
  };
}
