import { type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { at, numberAt, textAt } from '../cluster/read.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { divide } from './divide.ts';

/** The workload that an autoscaler scales: what it is to have in all, and what of it is where now. */
export interface ScaleTarget {
  total: number;
  replicas: ReadonlyMap<string, number>;
}

/** Bounds of one cluster's autoscaler; the API wants one replica at least, but a part may be none. */
export interface Bounds {
  replicas: number;
  maxReplicas: number;
}

/** The kind and name of what a HorizontalPodAutoscaler scales; undefined: not a kind that is placed. */
export function targetOf(root: KubeObject): { kind: PlacedKind; name: string } | undefined {
  const ref = at(root, 'spec', 'scaleTargetRef');
  const group = (textAt(ref, 'apiVersion') ?? '').split('/').slice(0, -1).join('/');
  const kind = placedKinds.find((k) => k.kind === textAt(ref, 'kind') && k.group === group);
  const name = textAt(ref, 'name');
  return kind && name !== undefined ? { kind, name } : undefined;
}

/** Undefined while nothing of it is shared out, or it is to have no replicas: then there is no proportion. */
export function scaleTarget(workload: KubeObject, placement: Placement): ScaleTarget | undefined {
  const total = Math.trunc(numberAt(workload, 'spec', 'replicas') ?? 1);
  const replicas = Object.entries(placement.spec?.shares ?? {}).flatMap(([cluster, share]) =>
    share.replicas === undefined ? [] : [[cluster, share.replicas] as const],
  );
  return total > 0 && replicas.length > 0 ? { total, replicas: new Map(replicas) } : undefined;
}

/**
 * Each cluster's part of spec.minReplicas and spec.maxReplicas, in proportion to its part of the target, rounded
 * up: so a minimum is never above a share that the target's own number allows, nor a maximum below one. While a
 * hand-over holds two full shares, both have the full bounds. Where nothing of the target is, they hold nobody.
 * https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
 */
export function autoscalerBounds(
  root: KubeObject,
  clusters: readonly string[],
  target: ScaleTarget | undefined,
): Map<string, Bounds> {
  const min = bound(numberAt(root, 'spec', 'minReplicas'));
  const max = bound(numberAt(root, 'spec', 'maxReplicas'));
  if (!target) {
    const mins = divide(min, clusters);
    const maxs = divide(max, clusters);
    return new Map(clusters.map((c) => [c, { replicas: mins.get(c) ?? 0, maxReplicas: maxs.get(c) ?? 0 }]));
  }
  return new Map(
    clusters.map((c) => {
      const here = Math.min(target.total, target.replicas.get(c) ?? target.total);
      const part = (whole: number) => Math.ceil((whole * here) / target.total);
      return [c, { replicas: part(min), maxReplicas: part(max) }];
    }),
  );
}

function bound(value: number | undefined): number {
  return Math.max(0, Math.trunc(value ?? 1));
}
