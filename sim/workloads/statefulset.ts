import type { KubeObject } from '../../kube/object.ts';
import type { Plan, Pod, Workload, WorkloadSpec } from '../types.ts';
import { availableIn, count, isFinished, isTerminating, podFor, templateHash } from './children.ts';

const hashKey = 'controller-revision-hash';

export interface StatefulSetSpec extends WorkloadSpec {
  podManagementPolicy?: string;
  ordinals?: { start?: number };
  updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
  volumeClaimTemplates?: KubeObject[];
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
  const hash = `${set.metadata.name}-${templateHash(set.spec?.template ?? { spec: { containers: [] } })}`;
  const scene = sceneOf(set, pods, hash, now);
  const counts = count(pods, set.spec?.minReadySeconds ?? 0, now);
  const plan: Plan<Pod> = { create: [], remove: [], patch: [], status: statusOf(set, pods, hash, counts) };
  if (counts.afterMs !== undefined) plan.afterMs = counts.afterMs;
  if (set.metadata.deletionTimestamp !== undefined) return plan;
  // Each step waits for those before it, unless the policy is Parallel.
  const steps = [() => fill(scene, plan), () => shrink(scene, plan), () => update(scene, plan)];
  for (const step of steps) if (!step() && !scene.parallel) break;
  return plan;
}

interface Scene {
  set: Workload<StatefulSetSpec>;
  hash: string;
  parallel: boolean;
  /** Of spec.replicas ordinals, lowest first. */
  slots: { ordinal: number; name: string; pod: Pod | undefined }[];
  /** Beyond them, highest first. */
  surplus: Pod[];
  serves(pod: Pod | undefined): boolean;
}

function sceneOf(set: Workload<StatefulSetSpec>, pods: readonly Pod[], hash: string, now: number): Scene {
  const start = set.spec?.ordinals?.start ?? 0;
  const byName = new Map(pods.map((pod) => [pod.metadata.name ?? '', pod]));
  const slots = Array.from({ length: set.spec?.replicas ?? 1 }, (_, i) => {
    const name = `${set.metadata.name}-${start + i}`;
    return { ordinal: start + i, name, pod: byName.get(name) };
  });
  const names = new Set(slots.map(({ name }) => name));
  return {
    set,
    hash,
    slots,
    parallel: set.spec?.podManagementPolicy === 'Parallel',
    surplus: pods
      .filter((pod) => !names.has(pod.metadata.name ?? ''))
      .sort((a, b) => ordinalOf(b) - ordinalOf(a)),
    serves: (pod) =>
      pod !== undefined &&
      pod.metadata.deletionTimestamp === undefined &&
      availableIn(pod, set.spec?.minReadySeconds ?? 0, now) === 0,
  };
}

/** Makes what is missing and replaces what has ended. True when all ordinals serve. */
function fill({ set, hash, parallel, slots, serves }: Scene, plan: Plan<Pod>): boolean {
  for (const { ordinal, name, pod } of slots) {
    if (serves(pod)) continue;
    if (!pod) {
      plan.create.push(stateful(set, name, ordinal, hash));
      plan.claims = [...(plan.claims ?? []), ...claimsOf(set, name)];
    } else if (isFinished(pod) && pod.metadata.deletionTimestamp === undefined) {
      plan.remove.push(name);
    }
    if (!parallel) return false;
  }
  return slots.every(({ pod }) => serves(pod));
}

/** Removes from the top; one is gone before the next goes. True when nothing is left to remove. */
function shrink({ surplus, parallel }: Scene, plan: Plan<Pod>): boolean {
  const staying = surplus.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  const waits = !parallel && surplus.some(isTerminating);
  for (const pod of waits ? [] : parallel ? staying : staying.slice(0, 1))
    plan.remove.push(pod.metadata.name ?? '');
  return surplus.length === 0;
}

/** Replaces one outdated pod, from the top down to the partition, once those above it serve. */
function update({ set, hash, slots, serves }: Scene, plan: Plan<Pod>): boolean {
  if (set.spec?.updateStrategy?.type === 'OnDelete') return true;
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (const { ordinal, name, pod } of [...slots].reverse()) {
    if (ordinal < partition) return true;
    const outdated = pod && pod.metadata.labels?.[hashKey] !== hash;
    if (outdated && pod.metadata.deletionTimestamp === undefined && !plan.remove.includes(name)) {
      plan.remove.push(name);
      return false;
    }
    if (!serves(pod)) return false;
  }
  return true;
}

function stateful(set: Workload<StatefulSetSpec>, name: string, ordinal: number, hash: string): Pod {
  const labels = {
    'statefulset.kubernetes.io/pod-name': name,
    'apps.kubernetes.io/pod-index': String(ordinal),
    [hashKey]: hash,
  };
  const pod = podFor(set, { name, labels });
  const spec = pod.spec ?? { containers: [] };
  const claimed = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name ?? '',
    persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
  }));
  const others = (spec.volumes ?? []).filter((volume) => !claimed.some((own) => own.name === volume['name']));
  const volumes = [...others, ...claimed];
  return { ...pod, spec: { ...spec, hostname: name, ...(volumes.length > 0 && { volumes }) } };
}

/** Claims outlive their pods and their set, as the default retention policy says. */
function claimsOf(set: Workload<StatefulSetSpec>, podName: string): KubeObject[] {
  return (set.spec?.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: `${template.metadata.name}-${podName}`,
      ...(set.metadata.namespace && { namespace: set.metadata.namespace }),
      labels: { ...template.metadata.labels, ...set.spec?.selector?.matchLabels },
    },
    spec: template.spec,
  }));
}

function ordinalOf(pod: Pod): number {
  return Number(/-(\d+)$/.exec(pod.metadata.name ?? '')?.[1] ?? 0);
}

function statusOf(
  set: Workload,
  pods: readonly Pod[],
  hash: string,
  counts: { ready: number; available: number },
): Record<string, unknown> {
  const living = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined);
  const at = (revision: unknown) =>
    living.filter((pod) => pod.metadata.labels?.[hashKey] === revision).length;
  const updated = at(hash);
  const desired = set.spec?.replicas ?? 1;
  const done = updated === desired && pods.length === desired && counts.ready === desired;
  const before = set.status?.['currentRevision'];
  // A first revision is the current one from the start.
  const current = done || !before ? hash : before;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    currentReplicas: at(current),
    updatedReplicas: updated,
    currentRevision: current,
    updateRevision: hash,
    collisionCount: 0,
  };
}
