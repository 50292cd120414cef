import { kindNamed, type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import type { Placement, Share } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, numberAt, textAt } from '../kube/untyped.ts';
import { divide } from './divide.ts';
import { lowered } from './lower.ts';

/** What an autoscaler keeps a workload's replicas within. */
export interface Scaler {
  min: number;
  max: number;
}

/** The workload that an autoscaler scales: what it is to have in all, and what of it is where now. */
export interface ScaleTarget {
  total: number;
  shares: ReadonlyMap<string, Pick<Share, 'phase' | 'replicas' | 'ordinalsStart'>>;
  /** Where it should be. */
  wanted: readonly string[];
  /** No hand-over is under way: the shares add up to the total. */
  divided: boolean;
  /** Its replicas have ordinals. */
  ranges: boolean;
  /** By cluster, how many it has room for, where it is divided for want of it. */
  most?: Readonly<Record<string, number>>;
  /** The one that is filled first. */
  home?: string;
}

/** Bounds of one cluster's autoscaler; the API wants one replica at least, but a part may be none. */
export interface Bounds {
  replicas: number;
  maxReplicas: number;
  /** It leaves its target as it is. */
  suspend?: true;
}

/** The kind and name of what a HorizontalPodAutoscaler scales; undefined: not a kind that is placed. */
export function targetOf(root: KubeObject): { kind: PlacedKind; name: string } | undefined {
  const ref = at(root, 'spec', 'scaleTargetRef');
  const group = (textAt(ref, 'apiVersion') ?? '').split('/').slice(0, -1).join('/');
  const kind = placedKinds.find((k) => k.kind === textAt(ref, 'kind') && k.group === group);
  const name = textAt(ref, 'name');
  return kind && name !== undefined ? { kind, name } : undefined;
}

export function scalerOf(root: KubeObject): Scaler {
  const min = bound(numberAt(root, 'spec', 'minReplicas'));
  return { min, max: Math.max(min, bound(numberAt(root, 'spec', 'maxReplicas'))) };
}

/** Undefined while nothing of it is shared out, or it is to have no replicas: then there is no proportion. */
export function scaleTarget(workload: KubeObject, { spec }: Placement): ScaleTarget | undefined {
  const total = Math.trunc(spec?.scale?.replicas ?? numberAt(workload, 'spec', 'replicas') ?? 1);
  const all = Object.entries(lowered(spec?.shares ?? {}));
  const shares = all.filter(([, share]) => share.replicas !== undefined);
  if (total <= 0 || shares.length === 0) return undefined;
  const names = shares.map(([c]) => c).sort();
  const divided =
    deepEqual(spec?.scale?.clusters, names) &&
    shares.reduce((sum, [, share]) => sum + (share.replicas ?? 0), 0) === total;
  const ranges = kindNamed(workload.kind)?.spread === 'ranges';
  const { most } = spec?.spread ?? {};
  const home = spec?.filled?.[0]?.cluster;
  return {
    ranges,
    total,
    shares: new Map(shares),
    wanted: spec?.clusters ?? [],
    divided,
    ...(most && { most }),
    ...(home !== undefined && { home }),
  };
}

/**
 * Each cluster's part of spec.minReplicas and spec.maxReplicas. During a hand-over in proportion to its part of the
 * target, rounded up; where two hold full shares, both have the full bounds. One that joins, or is counted on while
 * another has yet to go, keeps what it is to have: little is asked of its pods yet, so its autoscaler would take them
 * away again. One that is to go is free, and so is one without a share yet: a minimum above what it will be given would be
 * scaled up to before its own minimum came, and count as what its metrics ask for.
 * https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/
 */
export function autoscalerBounds(
  root: KubeObject,
  clusters: readonly string[],
  target: ScaleTarget | undefined,
): Map<string, Bounds> {
  const { min, max } = scalerOf(root);
  if (!target) return divided({ min, max }, clusters, new Map());
  if (target.divided) {
    // Of those too where it is not to be any longer: until the target's own hand-over begins, nothing of it is there twice.
    const parts = [...target.shares].map(([c, { replicas = 0 }]) => [c, replicas] as const);
    const there = new Map(parts.filter(([, replicas]) => replicas > 0).sort());
    const running = [...there.keys()];
    const bounds =
      target.ranges && running.length > 1
        ? lastOnly({ min, max }, running, target)
        : withinRoom(divided({ min, max }, running, there), there, target);
    return new Map(clusters.map((c) => [c, bounds.get(c) ?? { replicas: 0, maxReplicas: 0 }]));
  }
  if (target.ranges) return new Map(clusters.map((c) => [c, suspended({ min, max }, target)]));
  const equal = Math.ceil(target.total / Math.max(1, target.wanted.length));
  return new Map(
    clusters.map((c) => {
      const share = target.shares.get(c);
      if (!share) return [c, { replicas: 0, maxReplicas: max }];
      const here = Math.min(target.total, share.replicas ?? target.total);
      const part = (whole: number) => Math.ceil((whole * here) / target.total);
      const isCounted = share.phase !== 'Joining';
      const held = !isCounted ? here : target.wanted.includes(c) ? Math.min(here, equal) : 0;
      const replicas = Math.max(part(min), held);
      return [c, { replicas, maxReplicas: Math.max(part(max), replicas) }];
    }),
  );
}

/**
 * Of ordinals on their way: what one adds, or takes away, is the last that its cluster has, which another may be about to run, or
 * which is next to nothing that is to go. So none does anything, from before the first of them is given up until all are there.
 */
function suspended({ max }: Scaler, { total }: ScaleTarget): Bounds {
  return { replicas: 0, maxReplicas: Math.max(max, total), suspend: true };
}

/**
 * Exactly, so that together they ask for no more, and allow no more, than one would: only where a part of the
 * minimum is none is there still one replica. No minimum is above a share that the whole minimum allows, nor is a
 * maximum below one.
 */
function divided(
  { min, max }: Scaler,
  clusters: readonly string[],
  there: ReadonlyMap<string, number>,
): Map<string, Bounds> {
  const mins = divide(min, clusters, there, there);
  const maxs = divide(max, clusters, there, there);
  return new Map(clusters.map((c) => [c, { replicas: mins.get(c) ?? 0, maxReplicas: maxs.get(c) ?? 0 }]));
}

/**
 * What a cluster has no room for, others may have, of the minimum too; what none has room for is the home's, as if there
 * were no other: its autoscaler asks for it, and whoever places it hears that. Nobody's falls below what is there.
 */
function withinRoom(
  bounds: ReadonlyMap<string, Bounds>,
  there: ReadonlyMap<string, number>,
  { most = {}, home }: Pick<ScaleTarget, 'most' | 'home'>,
): Map<string, Bounds> {
  const roomAt = (c: string) =>
    Object.hasOwn(most, c) ? Math.max(most[c] ?? 0, there.get(c) ?? 0, 1) : Infinity;
  const moved = (of: (bounds: Bounds) => number) => {
    const parts = new Map([...bounds].map(([c, bound]) => [c, Math.min(of(bound), roomAt(c))]));
    let left = [...bounds].reduce((sum, [c, bound]) => sum + of(bound) - (parts.get(c) ?? 0), 0);
    for (const [c, part] of parts) {
      const more = Math.min(left, roomAt(c) - part);
      parts.set(c, part + more);
      left -= more;
    }
    const last = home !== undefined && parts.has(home) ? home : [...parts.keys()][0];
    if (last !== undefined) parts.set(last, (parts.get(last) ?? 0) + left);
    return parts;
  };
  const [mins, maxs] = [moved(({ replicas }) => replicas), moved(({ maxReplicas }) => maxReplicas)];
  return new Map(
    [...bounds.keys()].map((c) => {
      const replicas = mins.get(c) ?? 0;
      return [c, { replicas, maxReplicas: Math.max(replicas, maxs.get(c) ?? 0) }];
    }),
  );
}

/** Ordinals come and go at the end only: the others have what they have, so that no two have one of the same. */
function lastOnly({ min, max }: Scaler, clusters: readonly string[], { shares }: ScaleTarget) {
  const start = (c: string) => shares.get(c)?.ordinalsStart ?? 0;
  const last = [...clusters].sort((a, b) => start(a) - start(b)).at(-1);
  const of = (c: string) => shares.get(c)?.replicas ?? 0;
  const others = clusters.reduce((sum, c) => sum + (c === last ? 0 : of(c)), 0);
  return new Map(
    clusters.map((c): [string, Bounds] => {
      if (c !== last) return [c, { replicas: of(c), maxReplicas: of(c) }];
      return [c, { replicas: Math.max(1, min - others), maxReplicas: Math.max(1, max - others) }];
    }),
  );
}

function bound(value: number | undefined): number {
  return Math.max(0, Math.trunc(value ?? 1));
}
