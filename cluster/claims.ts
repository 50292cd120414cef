import type { KubeObject } from '../kube/object.ts';
import { getOwn, listAt, numberAt, textAt } from '../kube/untyped.ts';
import { reflectedFrom } from './reflected.ts';
import type { ClosureRef, ClusterSlice, Placement, PlacementSpec } from './types.ts';

/** The ordinal at the end of the name of a StatefulSet's pod or claim, and what is before it. */
function parts(name: string): { stem: string; ordinal: number } | undefined {
  const found = /^(.+)-(\d{1,10})$/.exec(name);
  return found ? { stem: found[1] ?? '', ordinal: Number(found[2]) } : undefined;
}

/** Of a StatefulSet's claim, by its name. */
export function ordinalOf(claim: string): number | undefined {
  return parts(claim)?.ordinal;
}

/** What is before the ordinal in the name of a StatefulSet's claim. */
export function stemOf(claim: string): string | undefined {
  return parts(claim)?.stem;
}

/** What the names of its claims begin with, of each template. */
export function claimStems(set: KubeObject): string[] {
  if (set.kind !== 'StatefulSet') return [];
  return listAt(set, 'spec', 'volumeClaimTemplates').map(
    (template) => `${textAt(template, 'metadata', 'name')}-${set.metadata.name}`,
  );
}

/** Whether a StatefulSet has claims made for it. */
export function hasTemplates(set: KubeObject): boolean {
  return claimStems(set).length > 0;
}

export function isClaimRef({ group, resource }: Pick<ClosureRef, 'group' | 'resource'>): boolean {
  return group === '' && resource === 'persistentvolumeclaims';
}

/** What its cluster says of a claim: that there is a volume for it. */
export function saysBound({ present, status }: ClusterSlice): boolean {
  return present && textAt(status, 'phase') === 'Bound';
}

/** It has the claims that are made for it deleted with it. */
export function claimsGo({ kind, spec }: KubeObject): boolean {
  return (
    kind === 'StatefulSet' && textAt(spec, 'persistentVolumeClaimRetentionPolicy', 'whenDeleted') === 'Delete'
  );
}

/**
 * Where a claim's volume holds data: bound, and not told to leave yet. Nothing but a user's own word may take it
 * from there, since a claim that leaves a cluster is deleted with what is on its volume.
 */
export function boundOn(claim: Placement | undefined): string[] {
  const { shares = {}, ref } = claim?.spec ?? {};
  if (ref?.resource !== 'persistentvolumeclaims') return [];
  const { clusters: slices = {}, bound = [] } = claim?.status ?? {};
  return Object.entries(shares).flatMap(([cluster, share]) => {
    const slice = getOwn(slices, cluster);
    const isBound = bound.includes(cluster) || (slice !== undefined && saysBound(slice));
    return isBound && share.phase !== 'Leaving' ? [cluster] : [];
  });
}

/** The claim, bound on this cluster or not; the very same where it is noted so. */
export function withBound(claim: Placement, cluster: string, isBound: boolean): Placement {
  const { bound = [], ...status } = claim.status ?? {};
  if (bound.includes(cluster) === isBound) return claim;
  const next = isBound ? [...bound, cluster].sort() : bound.filter((other) => other !== cluster);
  return { ...claim, status: { ...status, ...(next.length > 0 && { bound: next }) } };
}

/** Whether a StatefulSet's controller calls one of its claims so: `<template>-<set>-<ordinal>`. */
export function isClaimName(set: KubeObject, name: string): boolean {
  const stem = parts(name)?.stem;
  return stem !== undefined && claimStems(set).includes(stem);
}

/** Whether the set is to have the pod of that ordinal. */
export function hasOrdinalOf(set: KubeObject, claim: string): boolean {
  const ordinal = ordinalOf(claim) ?? -1;
  const start = numberAt(set, 'spec', 'ordinals', 'start') ?? 0;
  return ordinal >= start && ordinal < start + (numberAt(set, 'spec', 'replicas') ?? 1);
}

/** What a claim of the set was made from. */
export function templateOf(set: KubeObject, claim: string): KubeObject | undefined {
  const stem = parts(claim)?.stem;
  const index = stem === undefined ? -1 : claimStems(set).indexOf(stem);
  return listAt(set, 'spec', 'volumeClaimTemplates')[index] as KubeObject | undefined;
}

const mostNamed = 1_000;

/** The claims that its pods have: it makes those that are not there, and uses those that are. */
export function claimsNamed(workload: KubeObject): ClosureRef[] {
  const first = numberAt(workload, 'spec', 'ordinals', 'start') ?? 0;
  const count = Math.min(mostNamed, numberAt(workload, 'spec', 'replicas') ?? 1);
  return claimStems(workload).flatMap((stem) =>
    Array.from({ length: count }, (_, i) => ({
      group: '',
      resource: 'persistentvolumeclaims',
      name: `${stem}-${first + i}`,
    })),
  );
}

/**
 * By cluster, the first of a StatefulSet's own claims whose data is there, among those that are reflected. One that is
 * being deleted holds nobody: its data was given up.
 */
export function claimsMadeFor(set: KubeObject, claims: readonly KubeObject[]): Map<string, string> {
  const held = new Map<string, string>();
  for (const claim of claims) {
    const { name = '', deletionTimestamp } = claim.metadata;
    if (deletionTimestamp || textAt(claim, 'status', 'phase') !== 'Bound' || !isClaimName(set, name))
      continue;
    for (const cluster of reflectedFrom(claim)) {
      const known = held.get(cluster);
      if (known === undefined || name < known) held.set(cluster, name);
    }
  }
  return held;
}

/** Whether pods that a set has on this cluster have the claim of this name: of two of one name that one is shown. */
export function isClaimInUse(
  name: string,
  cluster: string,
  placed: readonly (PlacementSpec | undefined)[],
): boolean {
  const claim = parts(name);
  if (!claim) return false;
  return placed.some((spec) => {
    const share = spec?.shares && Object.hasOwn(spec.shares, cluster) ? spec.shares[cluster] : undefined;
    if (!share || share.phase === 'Leaving' || spec?.ref.resource !== 'statefulsets') return false;
    const start = share.ordinalsStart ?? 0;
    const within = claim.ordinal >= start && claim.ordinal < start + (share.replicas ?? 0);
    return within && claim.stem.endsWith(`-${spec.ref.name}`);
  });
}
