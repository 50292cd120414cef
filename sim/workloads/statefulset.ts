import type { Plan, Pod, Workload, WorkloadSpec } from '../types.ts';
import { count, isReady, podFor, templateHash } from './children.ts';

const hashKey = 'controller-revision-hash';

export interface StatefulSetSpec extends WorkloadSpec {
  podManagementPolicy?: string;
  ordinals?: { start?: number };
  updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
}

/**
 * Ordinals from spec.ordinals.start, one after the other unless the policy is Parallel; an update replaces from the
 * top. https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
 */
export function decideStatefulSet(
  set: Workload<StatefulSetSpec>,
  pods: readonly Pod[],
  now: number,
): Plan<Pod> {
  const start = set.spec?.ordinals?.start ?? 0;
  const want = set.metadata.deletionTimestamp ? 0 : (set.spec?.replicas ?? 1);
  const hash = `${set.metadata.name}-${templateHash(set.spec?.template ?? { spec: { containers: [] } })}`;
  const parallel = set.spec?.podManagementPolicy === 'Parallel';
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const names = Array.from({ length: want }, (_, i) => `${set.metadata.name}-${start + i}`);
  const plan: Plan<Pod> = { create: [], remove: [], scale: [], status: {} };
  let orderly = true;
  for (const [i, podName] of names.entries()) {
    const pod = byName.get(podName);
    if (!pod && (orderly || parallel)) plan.create.push(stateful(set, podName, start + i, hash));
    orderly &&= pod !== undefined && isReady(pod);
  }
  const surplus = pods.filter(
    (pod) => !names.includes(pod.metadata.name ?? '') && !pod.metadata.deletionTimestamp,
  );
  surplus.sort((a, b) => ordinal(b) - ordinal(a));
  const first = parallel ? surplus : surplus.slice(0, orderly || want === 0 ? 1 : 0);
  plan.remove.push(...first.map((pod) => pod.metadata.name ?? ''));
  if (orderly && surplus.length === 0) plan.remove.push(...outdated(set, names, byName, hash, start));
  plan.status = statusOf(
    set,
    names.flatMap((n) => byName.get(n) ?? []),
    hash,
    now,
  );
  return plan;
}

function outdated(
  set: Workload<StatefulSetSpec>,
  names: string[],
  pods: Map<string | undefined, Pod>,
  hash: string,
  start: number,
) {
  if (set.spec?.updateStrategy?.type === 'OnDelete') return [];
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  const stale = names.filter((podName, i) => {
    const pod = pods.get(podName);
    return (
      pod &&
      !pod.metadata.deletionTimestamp &&
      start + i >= partition &&
      pod.metadata.labels?.[hashKey] !== hash
    );
  });
  return stale.slice(-1);
}

function stateful(set: Workload, podName: string, index: number, hash: string): Pod {
  const labels = {
    'statefulset.kubernetes.io/pod-name': podName,
    'apps.kubernetes.io/pod-index': String(index),
    [hashKey]: hash,
  };
  const pod = podFor(set, { name: podName, labels });
  return { ...pod, spec: { ...(pod.spec ?? { containers: [] }), hostname: podName } };
}

function ordinal(pod: Pod): number {
  return Number(/-(\d+)$/.exec(pod.metadata.name ?? '')?.[1] ?? 0);
}

function statusOf(
  set: Workload<StatefulSetSpec>,
  pods: readonly Pod[],
  hash: string,
  now: number,
): Record<string, unknown> {
  const counts = count(pods, set.spec?.minReadySeconds ?? 0, now);
  const updated = pods.filter((pod) => pod.metadata.labels?.[hashKey] === hash).length;
  const done = updated === (set.spec?.replicas ?? 1);
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    currentReplicas: done ? updated : pods.length - updated,
    updatedReplicas: updated,
    currentRevision: done ? hash : (set.status?.['currentRevision'] ?? hash),
    updateRevision: hash,
    collisionCount: 0,
  };
}
