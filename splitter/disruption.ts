import { coversSome } from '../cluster/closure.ts';
import type { Placement, Share } from '../cluster/types.ts';
import { IntOrStringError, scaledIntOrPercent } from '../kube/int-or-string.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, numberAt } from '../kube/untyped.ts';
import { divide } from './divide.ts';
import type { Shares } from './plan.ts';

/** The pods that a PodDisruptionBudget is about. */
export interface Covered {
  /** As many as there are to be in all. */
  total: number;
  /** By cluster, as many as its shares say. */
  there: ReadonlyMap<string, number>;
}

/**
 * Undefined where it cannot be counted, as with a DaemonSet, whose pods depend on nodes; nor is it where the budget is about single pods
 * of a StatefulSet, of which each is on one cluster.
 */
export function coveredBy(
  budget: KubeObject,
  workloads: readonly { root: KubeObject; placement: Placement }[],
): Covered | undefined {
  if (workloads.some(({ root }) => coversSome(budget, root))) return undefined;
  const there = new Map<string, number>();
  let total = 0;
  for (const { root, placement } of workloads) {
    const shares = Object.entries(placement.spec?.shares ?? {}).filter(([, s]) => s.phase !== 'Leaving');
    const isPod = root.kind === 'Pod';
    if (!isPod && shares.some(([, share]) => share.replicas === undefined)) return undefined;
    total += isPod ? 1 : (placement.spec?.scale?.replicas ?? numberAt(root, 'spec', 'replicas') ?? 1);
    for (const [cluster, { replicas = 1 }] of shares)
      there.set(cluster, (there.get(cluster) ?? 0) + replicas);
  }
  return workloads.length > 0 ? { total, there } : undefined;
}

/**
 * A PodDisruptionBudget's numbers, divided like the pods that it covers, so that each cluster lets its own be
 * disrupted as one cluster would: each eviction is asked of one cluster, which knows its own pods only. Percentages
 * are of the whole. Where the whole budget allows a disruption, each cluster allows one of its pods at least; so
 * evictions in several clusters at the same moment may be more than the whole allows: docs/decisions/0022.
 * During a hand-over a cluster that has as many pods as the whole is to have keeps the whole budget.
 * https://kubernetes.io/docs/tasks/run-application/configure-pdb/
 */
export function withDisruptions(root: KubeObject, shares: Shares, covered: Covered | undefined): Shares {
  if (root.kind !== 'PodDisruptionBudget') return shares;
  const plain = Object.entries(shares).map(([c, share]): [string, Share] => [c, withoutNumbers(share)]);
  const names = plain.flatMap(([c, { phase }]) => (phase === 'Leaving' ? [] : [c]));
  const running = names.filter((c) => (covered?.there.get(c) ?? 0) > 0);
  if (!covered || running.length < 2) return Object.fromEntries(plain);
  const parts = partsOf(root, running, covered);
  return Object.fromEntries(plain.map(([c, share]) => [c, { ...share, ...parts.get(c) }]));
}

type Numbers = Pick<Share, 'minAvailable' | 'maxUnavailable'>;

function withoutNumbers({ minAvailable: _min, maxUnavailable: _max, ...share }: Share): Share {
  return share;
}

function partsOf(
  root: KubeObject,
  clusters: readonly string[],
  { total, there }: Covered,
): ReadonlyMap<string, Numbers> {
  const most = wholeNumber(at(root, 'spec', 'maxUnavailable'), total);
  const least = wholeNumber(at(root, 'spec', 'minAvailable'), total);
  if (most !== undefined) {
    const parts = proportional(most, clusters, { total, there });
    return mapped(parts, (n) => ({ maxUnavailable: most === 0 ? 0 : Math.max(1, n) }));
  }
  if (least === undefined) return new Map();
  const parts = proportional(least, clusters, { total, there });
  const allowed = (c: string) => (there.get(c) ?? 0) - (least < total ? 1 : 0);
  return mapped(parts, (n, c) => ({ minAvailable: Math.max(0, Math.min(n, allowed(c))) }));
}

/** Exactly, where the parts add up to the whole; while a hand-over has more, each in proportion, rounded up. */
function proportional(
  number: number,
  clusters: readonly string[],
  { total, there }: Covered,
): ReadonlyMap<string, number> {
  const here = (c: string) => there.get(c) ?? 0;
  const sum = clusters.reduce((all, c) => all + here(c), 0);
  if (sum === total) return divide(number, clusters, new Map(), there);
  const part = (c: string) => Math.ceil((number * Math.min(total, here(c))) / Math.max(1, total));
  return new Map(clusters.map((c) => [c, part(c)]));
}

/** Percentages are rounded up, as Kubernetes does with both. Undefined: not given, or not to be read. */
function wholeNumber(value: unknown, total: number): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  try {
    return Math.max(0, scaledIntOrPercent(value, total, 'up'));
  } catch (error) {
    if (error instanceof IntOrStringError) return undefined;
    throw error;
  }
}

function mapped<A, B>(of: ReadonlyMap<string, A>, make: (value: A, key: string) => B): Map<string, B> {
  return new Map([...of].map(([key, value]) => [key, make(value, key)]));
}
