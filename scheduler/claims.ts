import { claimsMadeFor, hasTemplates, isClaimName, isClaimRef, saysBound } from '../cluster/claims.ts';
import { type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import type { Copies } from '../cluster/copies.ts';
import { isHeld, reflectedFrom } from '../cluster/reflected.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import { copierBetween, wasCopiedFrom } from '../cluster/volume-copy.ts';
import { isInPlace, type Volumes, volumesOf, volumesWords } from '../cluster/volumes.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn, textAt } from '../kube/untyped.ts';
import { copiesOf, whyUncopied, wordOf } from './copies.ts';
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

export interface Claims extends Record<Volumes, Map<string, string>> {
  /** Whose data comes along: see Placement. */
  copies: Copies | undefined;
  /** A claim whose data is to be copied and cannot be, so that it holds the workload; and why. */
  uncopied: string | undefined;
}

/** By what becomes of its data, and by cluster: the first claim that a workload has there, made for it or required. */
export function claimsOf(scene: Scene, placed: PlacedObject, requires: readonly ClosureRef[]): Claims {
  const { object: workload } = placed;
  const placement = placementOf(scene, placed);
  const there = Object.keys(placement?.spec?.shares ?? {});
  const found = {
    hold: new Map<string, string>(),
    recreate: new Map<string, string>(),
    copy: new Map<string, string>(),
  };
  const uncopied = new Map<string, string>();
  const add = (volumes: Volumes, cluster: string, name: string) => {
    if (!found[volumes].has(cluster)) found[volumes].set(cluster, name);
  };
  /** As it is said; one that cannot be copied holds. */
  const wordFor = (claim: KubeObject, on: readonly string[]): Volumes => {
    const { name = '' } = claim.metadata;
    const word = wordOf(scene, placed, claim, name, placement);
    if (word !== 'copy') return word;
    const ref = { group: '', resource: 'persistentvolumeclaims', name };
    // It is made where it goes before anything runs there: data is where something did.
    const running = on.filter((c) => (placement?.spec?.shares?.[c]?.replicas ?? 1) > 0);
    const why = on.length === 0 ? undefined : whyUncopied(scene, placed, ref, running);
    if (why === undefined) return 'copy';
    uncopied.set(name, `${name} ${why}`);
    return 'hold';
  };
  const isThere = (claim: KubeObject) => reflectedFrom(claim).filter((c) => there.includes(c));
  const claims = (scene.input.claims ?? []).filter(({ metadata }) =>
    isClaimName(workload, metadata.name ?? ''),
  );
  const words = new Map(
    claims.map((claim) => [claim, wordFor(claim, holdsNobody(claim) ? [] : isThere(claim))]),
  );
  for (const volumes of volumesWords) {
    const made = claims.filter((claim) => words.get(claim) === volumes);
    for (const [cluster, name] of claimsMadeFor(workload, made)) add(volumes, cluster, name);
    // While it is held here, nobody knows of the one that is made anew under its name where its set is.
    const [held] = made.filter(isHeld);
    for (const cluster of held ? there : []) add(volumes, cluster, held?.metadata.name ?? '');
  }
  for (const ref of requires) {
    const claim = scene.index.byKey.get(refKey(ref));
    if (!claim) continue;
    const bound = boundOn(placementOf(scene, claim));
    const volumes = wordFor(
      claim.object,
      bound.filter((c) => there.includes(c)),
    );
    for (const cluster of bound) add(volumes, cluster, ref.name);
  }
  const copies = copiesOf(scene, placed, requires, (name) => uncopied.has(name));
  return { ...found, copies, uncopied: [...uncopied.values()][0] };
}

function holdsNobody({ metadata, status }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined || textAt(status, 'phase') !== 'Bound';
}

/** Says of each cluster that a workload leaves what becomes of its data there: also to who only plans that. */
export function withoutData(
  choice: Choice,
  there: readonly string[],
  { recreate, copy }: Claims,
  clusters: Scene['clusters'],
): Choice {
  if (choice.clusters.length === 0) return choice;
  const words = (cluster: string): string[] => {
    const [anew, along] = [recreate.get(cluster), copy.get(cluster)];
    const [source, ...targets] = [cluster, ...choice.clusters].map((name) => clusters.get(name));
    const by = targets.map((target) => copierBetween(source, target)).find((copier) => copier !== undefined);
    return [
      ...(anew === undefined ? [] : [`its claim ${anew} is made anew, without the data`]),
      ...(along === undefined || by === undefined ? [] : [`its claim ${along} is copied along by ${by}`]),
    ];
  };
  const said = there.flatMap((cluster) => {
    const told = choice.clusters.includes(cluster) ? [] : words(cluster);
    if (told.length === 0) return [];
    const why = getOwn(choice.reasons, cluster);
    return [[cluster, [...(why ? [why] : []), ...told].join('; ')] as const];
  });
  return said.length === 0
    ? choice
    : { ...choice, reasons: { ...choice.reasons, ...Object.fromEntries(said) } };
}

/** See NamespaceDecision. Of what was recorded before nothing is asked again. */
export function leaveData(scene: Scene, all: readonly Decided[]): Decided[] {
  const leaves = ({ placed, choice, requires }: Decided): boolean => {
    const placement = placementOf(scene, placed);
    const before = placement?.spec?.clusters ?? [];
    const left = before.filter((c) => !choice.clusters.includes(c));
    // Some of its ordinals leave theirs for another one.
    const isSpread = before.length > 0 && choice.clusters.some((c) => !before.includes(c));
    if (isSpread && hasTemplates(placed.object)) return true;
    if (placed.kind.role === 'workload')
      return left.length > 0 && (requires.some(isClaimRef) || hasTemplates(placed.object));
    const known = placement?.spec?.givenUp ?? {};
    const isGiven = (c: string) => getOwn(choice.givenUp ?? {}, c) && !getOwn(known, c);
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
  /** Of these, where it is to be copied from and, as far as anybody says, was not. */
  uncopied: string[];
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
  if (bound.length === 0) return { held: [], awaited: [], uncopied: [], givenUp: {}, isUsed: false };
  const key = placedKey(claim);
  const uses = (refs: readonly ClosureRef[] = []) => refs.some((ref) => refKey(ref) === key);
  const users = workloads
    .filter(({ requires }) => uses(requires))
    .map((decided) => ({ ...decided, spec: placementOf(scene, decided.placed)?.spec }));
  const isUsed = users.length > 0;
  const wordAs = (placed: PlacedObject) =>
    wordOf(scene, placed, claim.object, claim.object.metadata.name ?? '', placementOf(scene, placed));
  const says = ({ placed, wish }: Decided, c: string) => wordAs(placed) !== 'hold' || leavesOut(wish, c);
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
  const { name = '' } = claim.object.metadata;
  const isUncopied = (c: string) =>
    users.some(
      ({ placed, choice: { clusters } }) =>
        wordAs(placed) === 'copy' &&
        !clusters.includes(c) &&
        !wasCopiedFrom(scene.input.copies ?? new Map(), name, c, clusters),
    );
  const given = bound.filter((c) => !held.includes(c));
  const uncopied = given.filter(isUncopied);
  return { held, awaited: isAwaited ? given : uncopied, uncopied, givenUp, isUsed };
}
