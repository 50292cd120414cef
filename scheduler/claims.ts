import { boundOn, claimsMadeFor, hasTemplates, isClaimName, isClaimRef } from '../cluster/claims.ts';
import { type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import type { Copies } from '../cluster/copies.ts';
import { isHeld, reflectedFrom } from '../cluster/reflected.ts';
import type { ClosureRef } from '../cluster/types.ts';
import { copierBetween } from '../cluster/volume-copy.ts';
import { type Volumes, volumesWords } from '../cluster/volumes.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn, textAt } from '../kube/untyped.ts';
import { copiesOf, whyUncopied, wordOf } from './copies.ts';
import type { Choice } from './judge.ts';
import { placementOf, type Scene } from './scene.ts';
import { otherData } from './stays.ts';
import type { Decided } from './types.ts';

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
  const wordFor = (claim: KubeObject, on: readonly string[], others: readonly string[] = []): Volumes => {
    const { name = '' } = claim.metadata;
    const word = wordOf(scene, placed, claim, name, placement);
    if (word !== 'copy') return word;
    const ref = { group: '', resource: 'persistentvolumeclaims', name };
    // It is made where it goes before anything runs there: data is where something did.
    const running = on.filter((c) => (placement?.spec?.shares?.[c]?.replicas ?? 1) > 0);
    const data = [...running, ...others];
    const why = on.length === 0 ? undefined : whyUncopied(scene, placed, ref, data);
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
    const on = bound.filter((c) => there.includes(c));
    const volumes = wordFor(claim.object, on, otherData(scene, claim, placement?.spec));
    for (const cluster of bound) add(volumes, cluster, ref.name);
  }
  const copies = copiesOf(scene, placed, requires, (name) => uncopied.has(name));
  return { ...found, copies, uncopied: [...uncopied.values()][0] };
}

function holdsNobody({ metadata, status }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined || textAt(status, 'phase') !== 'Bound';
}

/**
 * Says of each cluster that a workload leaves, in part or whole, what becomes of its data there: also to who only plans that. A set that gets one more
 * cluster gives that some of its ordinals.
 */
export function withoutData(
  choice: Choice,
  { clusters }: Pick<Scene, 'clusters'>,
  {
    placed,
    there,
    claims: { recreate, copy },
  }: { placed: PlacedObject; there: readonly string[]; claims: Claims },
): Choice {
  if (choice.clusters.length === 0) return choice;
  const isShared = hasTemplates(placed.object) && choice.clusters.some((name) => !there.includes(name));
  const words = (cluster: string): string[] => {
    const stays = choice.clusters.includes(cluster);
    if (stays && !isShared) return [];
    const [anew, along] = [recreate.get(cluster), copy.get(cluster)];
    const others = choice.clusters.filter((name) => name !== cluster);
    const [source, ...targets] = [cluster, ...others].map((name) => clusters.get(name));
    const by = targets.map((target) => copierBetween(source, target)).find((copier) => copier !== undefined);
    const what = (claim: string) => (stays ? 'what goes elsewhere of its claims' : `its claim ${claim}`);
    return [
      ...(anew === undefined ? [] : [`${what(anew)} is made anew, without the data`]),
      ...(along === undefined || by === undefined ? [] : [`${what(along)} is copied along by ${by}`]),
    ];
  };
  const said = there.flatMap((cluster) => {
    const told = words(cluster);
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
