import { claimsMadeFor, templateOf } from '../cluster/claims.ts';
import { type PlacedObject, refKey, refOf } from '../cluster/closure.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import { isInPlace, type Volumes, volumesOf } from '../cluster/volumes.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn, textAt } from '../kube/untyped.ts';
import type { Choice } from './judge.ts';
import { placementOf, type Scene } from './scene.ts';
import type { Decided } from './types.ts';
import { leavesOut, type Wish } from './wishes.ts';

/**
 * Where a claim's volume holds data: bound, and not told to leave yet. Nothing but a user's own word may take it
 * from there, since a claim that leaves a cluster is deleted with what is on its volume.
 */
export function boundOn(claim: Placement | undefined): string[] {
  const { shares = {}, ref } = claim?.spec ?? {};
  if (ref?.resource !== 'persistentvolumeclaims') return [];
  const slices = claim?.status?.clusters ?? {};
  return Object.entries(shares).flatMap(([cluster, share]) => {
    const slice = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
    const isBound = slice?.present === true && textAt(slice.status, 'phase') === 'Bound';
    return isBound && share.phase !== 'Leaving' ? [cluster] : [];
  });
}

/** By what becomes of its data, and by cluster: the first claim that a workload has there, made for it or required. */
export function claimsOf(
  scene: Scene,
  workload: KubeObject,
  requires: readonly ClosureRef[],
): Record<Volumes, Map<string, string>> {
  const { namespace, claims = [] } = scene.input;
  const found = { hold: new Map<string, string>(), recreate: new Map<string, string>() };
  const add = (volumes: Volumes, cluster: string, name: string) => {
    if (!found[volumes].has(cluster)) found[volumes].set(cluster, name);
  };
  for (const volumes of ['hold', 'recreate'] as const) {
    const made = claims.filter((claim) => {
      const template = templateOf(workload, claim.metadata.name ?? '');
      return volumesOf(claim, template, workload, namespace) === volumes;
    });
    for (const [cluster, name] of claimsMadeFor(workload, made)) add(volumes, cluster, name);
  }
  for (const ref of requires) {
    const claim = scene.index.byKey.get(refKey(ref));
    if (!claim) continue;
    const volumes = volumesOf(claim.object, workload, namespace);
    for (const cluster of boundOn(placementOf(scene, claim))) add(volumes, cluster, ref.name);
  }
  return found;
}

/** Says of each cluster that a workload leaves that its data there does not come along: also to who only plans that. */
export function withoutData(
  choice: Choice,
  there: readonly string[],
  recreated: ReadonlyMap<string, string>,
): Choice {
  if (choice.clusters.length === 0) return choice;
  const said = there.flatMap((cluster) => {
    const claim = recreated.get(cluster);
    if (claim === undefined || choice.clusters.includes(cluster)) return [];
    const why = getOwn(choice.reasons, cluster);
    return [[cluster, `${why ? `${why}; ` : ''}its claim ${claim} is made anew, without the data`] as const];
  });
  return said.length === 0
    ? choice
    : { ...choice, reasons: { ...choice.reasons, ...Object.fromEntries(said) } };
}

interface Stays {
  /** For its data, whether or not a workload is there: no user's word says that this may go. */
  held: string[];
  /** Its data may go, and does when what uses it is in place without. */
  awaited: string[];
  isUsed: boolean;
}

/** Where a claim stays for the sake of its data. */
export function staysOn(
  scene: Scene,
  claim: PlacedObject,
  own: Wish | undefined,
  workloads: readonly Decided[],
): Stays {
  const bound = boundOn(placementOf(scene, claim));
  // Most are no claims, and there may be thousands of both.
  if (bound.length === 0) return { held: [], awaited: [], isUsed: false };
  const key = refKey(refOf(claim));
  const users = workloads.filter(({ requires }) => requires.some((ref) => refKey(ref) === key));
  const { namespace } = scene.input;
  const isUsed = users.length > 0;
  const isGivenUp = users.every(
    ({ placed }) => volumesOf(claim.object, placed.object, namespace) === 'recreate',
  );
  const wishes = [own, ...users.map(({ wish }) => wish)];
  const held = bound.filter((c) => !(isGivenUp && isUsed) && !wishes.some((wish) => leavesOut(wish, c)));
  const isAwaited = users.some(({ placed, choice }) => {
    const spec = placementOf(scene, placed)?.spec;
    return !spec || !isInPlace({ ...spec, clusters: choice.clusters }, placed.object);
  });
  return { held, awaited: isAwaited ? bound.filter((c) => !held.includes(c)) : [], isUsed };
}
