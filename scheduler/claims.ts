import {
  claimsMadeFor,
  hasTemplates,
  isClaimName,
  isClaimRef,
  saysBound,
  templateOf,
} from '../cluster/claims.ts';
import { type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import { isHeld } from '../cluster/reflected.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import { isInPlace, type Volumes, volumesOf } from '../cluster/volumes.ts';
import { getOwn } from '../kube/untyped.ts';
import type { Choice } from './judge.ts';
import { isRolledOut } from './rollout.ts';
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
  const { clusters: slices = {}, bound = [] } = claim?.status ?? {};
  return Object.entries(shares).flatMap(([cluster, share]) => {
    const slice = getOwn(slices, cluster);
    const isBound = bound.includes(cluster) || (slice !== undefined && saysBound(slice));
    return isBound && share.phase !== 'Leaving' ? [cluster] : [];
  });
}

/** By what becomes of its data, and by cluster: the first claim that a workload has there, made for it or required. */
export function claimsOf(
  scene: Scene,
  placed: PlacedObject,
  requires: readonly ClosureRef[],
): Record<Volumes, Map<string, string>> {
  const { object: workload } = placed;
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
    // While it is held here, nobody knows of the one that is made anew under its name where its set is.
    const [held] = made.filter((claim) => isHeld(claim) && isClaimName(workload, claim.metadata.name ?? ''));
    for (const cluster of held ? Object.keys(placementOf(scene, placed)?.spec?.shares ?? {}) : [])
      add(volumes, cluster, held?.metadata.name ?? '');
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

/** See NamespaceDecision. Of what was recorded before nothing is asked again. */
export function leaveData(scene: Scene, all: readonly Decided[]): Decided[] {
  const leaves = ({ placed, choice, requires }: Decided): boolean => {
    const placement = placementOf(scene, placed);
    const left = (placement?.spec?.clusters ?? []).filter((c) => !choice.clusters.includes(c));
    if (placed.kind.role === 'workload')
      return left.length > 0 && (requires.some(isClaimRef) || hasTemplates(placed.object));
    const before = placement?.spec?.givenUp ?? {};
    const isGiven = (c: string) => getOwn(choice.givenUp ?? {}, c) && !getOwn(before, c);
    return boundOn(placement).some((c) => left.includes(c) || isGiven(c));
  };
  const found = new Set(all.filter(leaves));
  const of = new Set([...found].map(({ placed }) => placedKey(placed)));
  for (const one of all) if (one.requires.some((ref) => of.has(refKey(ref)))) found.add(one);
  return [...found];
}

interface Stays {
  /** For its data, whether or not a workload is there: nobody who may has given it up. */
  held: string[];
  /** Its data may go, and does when what uses it is in place without. */
  awaited: string[];
  /** Who gave it up where, by their uids: remembered, since they are there no longer in the end. */
  givenUp: Record<string, string[]>;
  isUsed: boolean;
}

/**
 * Where a claim stays for the sake of its data. Given up is what its own word gives up, or what all who had it there gave up when
 * they left, for as long as the very same say so; that another one uses a claim of that name says nothing of it, nor that one of
 * them is deleted.
 */
export function staysOn(
  scene: Scene,
  claim: PlacedObject,
  own: Wish | undefined,
  workloads: readonly Decided[],
): Stays {
  const placement = placementOf(scene, claim);
  const bound = boundOn(placement);
  // Most are no claims, and there may be thousands of both.
  if (bound.length === 0) return { held: [], awaited: [], givenUp: {}, isUsed: false };
  const key = placedKey(claim);
  const uses = (refs: readonly ClosureRef[] = []) => refs.some((ref) => refKey(ref) === key);
  const users = workloads
    .filter(({ requires }) => uses(requires))
    .map((decided) => ({ ...decided, spec: placementOf(scene, decided.placed)?.spec }));
  const isUsed = users.length > 0;
  const says = ({ placed, wish }: Decided, c: string) =>
    volumesOf(claim.object, placed.object, scene.input.namespace) === 'recreate' || leavesOut(wish, c);
  const giversOf = (c: string): string[] => {
    const before = getOwn(placement?.spec?.givenUp ?? {}, c) ?? [];
    const of = (uid: string) => users.find(({ placed }) => placed.object.metadata.uid === uid);
    const still = before.map(of);
    if (before.length > 0) return still.every((user) => user && says(user, c)) ? before : [];
    // As it was recorded before: what begins to use it with the same word that sends it away has nothing to give up.
    const had = users.filter(({ spec }) => spec?.clusters.includes(c) && uses(spec.requires));
    const leave = had.every((user) => says(user, c) && !user.choice.clusters.includes(c));
    return leave ? had.map(({ placed }) => placed.object.metadata.uid ?? '').sort() : [];
  };
  const all = bound.map((c) => [c, giversOf(c)] as const).filter(([, by]) => by.length > 0);
  const givenUp = Object.fromEntries(all);
  const ofItself = (c: string) => leavesOut(own, c) || (isUsed && volumesOf(claim.object) === 'recreate');
  const held = bound.filter((c) => !getOwn(givenUp, c) && !ofItself(c));
  const isAwaited = users.some(
    ({ placed: { object }, choice: { clusters }, spec }) =>
      !spec || !isRolledOut(object) || !isInPlace({ ...spec, clusters }, object),
  );
  return { held, awaited: isAwaited ? bound.filter((c) => !held.includes(c)) : [], givenUp, isUsed };
}
