import { ordinalLedTo } from '../cluster/closure.ts';
import { managedByLabel, ourSlices, serviceNameLabel } from '../cluster/endpoints.ts';
import { isAdopted } from '../cluster/placeable.ts';
import { reflectedFrom } from '../cluster/reflected.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { at, getOwn, listAt, numberAt, textAt } from '../kube/untyped.ts';
import { rangeOf } from './plan.ts';
import { availableOf } from './ready.ts';

/** The Service of an EndpointSlice that a physical cluster has told of; undefined: none has. */
export function serviceTold(slice: KubeObject): string | undefined {
  return reflectedFrom(slice).length > 0 ? slice.metadata.labels?.[serviceNameLabel] : undefined;
}

/**
 * By cluster, how many ready endpoints one Service has there, as its slices tell. Those of two address families are the same
 * pods, and pods of a node's network have one address; a slice that has none says so.
 */
export function readyEndpoints(slices: readonly KubeObject[]): Map<string, number> {
  const byFamily = new Map<string, Map<unknown, Set<unknown>>>();
  for (const slice of slices) {
    const [cluster] = reflectedFrom(slice);
    if (cluster === undefined || slice.metadata.labels?.[managedByLabel.slice] === ourSlices) continue;
    const families = byFamily.get(cluster) ?? new Map<unknown, Set<unknown>>();
    const ready = families.get(slice['addressType']) ?? new Set();
    for (const endpoint of listAt(slice, 'endpoints'))
      if (at(endpoint, 'conditions', 'ready') !== false) ready.add(podOf(endpoint));
    byFamily.set(cluster, families.set(slice['addressType'], ready));
  }
  const most = (families: ReadonlyMap<unknown, ReadonlySet<unknown>>) =>
    Math.max(0, ...[...families.values()].map(({ size }) => size));
  return new Map([...byFamily].map(([cluster, families]) => [cluster, most(families)]));
}

/** A pod by its name, which no other there has meanwhile; what is no pod by its address. */
function podOf(endpoint: unknown): unknown {
  const isPod = at(endpoint, 'targetRef', 'kind') === 'Pod';
  return (isPod && textAt(endpoint, 'targetRef', 'name')) || listAt(endpoint, 'addresses')[0];
}

/**
 * How many ready pods its endpoints there have to be, of the workloads that it selects: at least. What has no number of replicas has
 * pods that end, or are not ready, and what a workload has adopted counts in that one's.
 */
export function podsLedTo(
  followed: readonly { root: KubeObject; placement: Placement }[],
  cluster: string,
): number {
  return followed.reduce((sum, { root, placement: { spec, status } }) => {
    const share = spec?.shares?.[cluster];
    if (share?.replicas === undefined || isAdopted(root)) return sum;
    return sum + availableOf(share, status?.clusters?.[cluster]);
  }, 0);
}

/** Where there is the one pod of a StatefulSet that a Service selects; undefined: it selects all pods of somebody. */
export function servedAt(
  service: KubeObject,
  reached: readonly { root: KubeObject; placement: Placement }[],
): ((cluster: string) => boolean) | undefined {
  if (service.kind !== 'Service' || reached.length === 0) return undefined;
  const single = reached.flatMap(({ root, placement }) => {
    const ordinal = ordinalLedTo(service, root);
    return ordinal === undefined ? [] : [{ ordinal, root, shares: placement.spec?.shares ?? {} }];
  });
  if (single.length < reached.length) return undefined;
  return (cluster) =>
    single.some(({ ordinal, root, shares }) => {
      const share = getOwn(shares, cluster);
      const { start, end } = rangeOf(share, numberAt(root, 'spec', 'ordinals', 'start') ?? 0);
      return ordinal >= start && ordinal < end;
    });
}

/** Where it leads to some of these; undefined: to some of them it leads wherever it is. */
export function servedAtAny(
  each: readonly ReturnType<typeof servedAt>[],
): ((cluster: string) => boolean) | undefined {
  if (each.length === 0 || each.includes(undefined)) return undefined;
  return (cluster) => each.some((served) => served?.(cluster));
}

/** Fewer ready endpoints are told of than there are pods. Where no cluster tells of any, nobody knows. */
export function isShortOf(pods: number, ready: ReadonlyMap<string, number>, cluster: string): boolean {
  return ready.size > 0 && (ready.get(cluster) ?? 0) < pods;
}
