import { createHash } from 'node:crypto';
import type { KubeObject, OwnerReference } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Pod, PodTemplate, Workload } from '../types.ts';

/** A controller reference, as the garbage collector and `kubectl describe` read it. */
export function controllerRef(owner: KubeObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export function ownedBy(owner: KubeObject, children: readonly KubeObject[]): KubeObject[] {
  return children.filter((child) =>
    child.metadata.ownerReferences?.some((ref) => ref.controller === true && ref.uid === owner.metadata.uid),
  );
}

/** The same template gives the same ten characters, on every cluster, whatever the order of its fields. */
export function templateHash(template: PodTemplate): string {
  const digest = createHash('sha256').update(canonical(template)).digest('hex');
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  return Array.from(
    { length: 10 },
    (_, i) => letters[Number.parseInt(digest.slice(i * 2, i * 2 + 2), 16) % 27],
  ).join('');
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)) : inner,
  );
}

export interface PodFrom {
  /** Full name, or absent for a generated one that starts with the owner's. */
  name?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  nodeName?: string;
}

export function podFor(owner: Workload, from: PodFrom = {}): Pod {
  const template = owner.spec?.template ?? { spec: { containers: [] } };
  const annotations = { ...template.metadata?.annotations, ...from.annotations };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(from.name ? { name: from.name } : { generateName: `${owner.metadata.name}-` }),
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      labels: { ...template.metadata?.labels, ...from.labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [controllerRef(owner)],
    },
    spec: { ...template.spec, ...(from.nodeName && { nodeName: from.nodeName }) },
  };
}

/** It has ended and will not run again. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Being deleted, and still running. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isFinished(pod);
}

export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
}

/** Ready for minReadySeconds; else how many milliseconds are missing. */
export function availableIn(pod: Pod, minReadySeconds: number, now: number): number {
  const ready = pod.status?.conditions?.find((c) => c.type === 'Ready' && c.status === 'True');
  if (!ready) return Number.POSITIVE_INFINITY;
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(ready.lastTransitionTime ?? '') || now;
  return Math.max(0, since + minReadySeconds * 1000 - now);
}

export interface Counts {
  ready: number;
  available: number;
  /** Until the next ready pod becomes available. */
  afterMs: number | undefined;
}

export function count(pods: readonly Pod[], minReadySeconds: number, now: number): Counts {
  const waits = pods.map((pod) => availableIn(pod, minReadySeconds, now));
  const pending = waits.filter((wait) => wait > 0 && Number.isFinite(wait));
  return {
    ready: pods.filter(isReady).length,
    available: waits.filter((wait) => wait === 0).length,
    afterMs: pending.length > 0 ? Math.min(...pending) : undefined,
  };
}

/** The order in which surplus pods go: those that serve least first, then the youngest. */
export function byDispensability(a: Pod, b: Pod): number {
  const rank = (pod: Pod) => (pod.spec?.nodeName ? 1 : 0) + (isReady(pod) ? 2 : 0);
  const born = (pod: Pod) => Date.parse(pod.metadata.creationTimestamp ?? '') || 0;
  return (
    rank(a) - rank(b) || born(b) - born(a) || (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '')
  );
}

/** Keeps lastTransitionTime where neither status nor reason changed. */
export function withTransitions(
  next: { type: string; status: string; reason?: string; message?: string }[],
  previous: unknown,
  now: string,
): Record<string, unknown>[] {
  const before = Array.isArray(previous) ? (previous as Record<string, unknown>[]) : [];
  return next.map((condition) => {
    const old = before.find((c) => c['type'] === condition.type);
    const same = old?.['status'] === condition.status;
    const at = same ? old?.['lastTransitionTime'] : now;
    const updated = same && old?.['reason'] === condition.reason ? (old?.['lastUpdateTime'] ?? at) : now;
    return { ...condition, lastTransitionTime: at, lastUpdateTime: updated };
  });
}
