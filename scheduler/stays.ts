import { boundOn, templateOf } from '../cluster/claims.ts';
import { type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import type { ClosureRef, PlacementSpec, Share } from '../cluster/types.ts';
import { wasCopiedFrom } from '../cluster/volume-copy.ts';
import { isInPlace, volumesOf, volumesSaid } from '../cluster/volumes.ts';
import type { KubeObject } from '../kube/object.ts';
import { getOwn } from '../kube/untyped.ts';
import { wordOf } from './copies.ts';
import { isRolledOut } from './rollout.ts';
import { placementOf, type Scene } from './scene.ts';
import type { Decided } from './types.ts';
import { leavesOut, type Wish } from './wishes.ts';

interface Stays {
  /** For its data, whether or not a workload is there: nobody who may has given it up. */
  held: string[];
  /** Its data may go, and does when what uses it is in place without. */
  awaited: string[];
  /** Of these, where it is to be copied from and, as far as anybody says, was not. */
  uncopied: string[];
  /** Who gave it up where, by their uids: remembered, since they are there no longer in the end. See PlacementSpec. */
  givenUp: Record<string, string[]>;
  /** See PlacementSpec. */
  copiedFrom: string[];
  isUsed: boolean;
}

/**
 * Where a claim stays for the sake of its data. Given up is what its own word gives up, or what all who had it there gave up when
 * they left, for as long as the very same say so; that another one uses a claim of that name says nothing of it, nor that one of
 * them is deleted. To be named elsewhere gives up what is held for want of a word, and nothing that somebody says is held.
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
  if (bound.length === 0)
    return { held: [], awaited: [], uncopied: [], givenUp: {}, copiedFrom: [], isUsed: false };
  const key = placedKey(claim);
  const uses = (refs: readonly ClosureRef[] = []) => refs.some((ref) => refKey(ref) === key);
  const users = workloads
    .filter(({ requires }) => uses(requires))
    .map((decided) => ({ ...decided, spec: placementOf(scene, decided.placed)?.spec }));
  const isUsed = users.length > 0;
  const { name = '' } = claim.object.metadata;
  const wordAs = (placed: PlacedObject) =>
    wordOf(scene, placed, claim.object, name, placementOf(scene, placed));
  const saysHold = (user?: KubeObject) =>
    volumesSaid(claim.object, user && templateOf(user, name), user, scene.input.namespace) === 'hold';
  const says = ({ placed, wish }: Decided, c: string) =>
    wordAs(placed) !== 'hold' || (leavesOut(wish, c) && !saysHold(placed.object));
  const giversOf = (c: string): string[] | undefined => {
    const isLeft = users.every(({ choice: { clusters } }) => !clusters.includes(c));
    const before = getOwn(placement?.spec?.givenUp ?? {}, c);
    if (before?.length === 0) return isLeft ? before : undefined;
    const of = (uid: string) => users.find(({ placed }) => placed.object.metadata.uid === uid);
    if (before) return before.map(of).every((user) => user && says(user, c)) ? before : undefined;
    // As it was recorded before: what begins to use it with the same word that sends it away has nothing to give up.
    const had = users.filter(({ spec }) => spec?.clusters.includes(c) && uses(spec.requires));
    const leave = had.every((user) => says(user, c) && !user.choice.clusters.includes(c));
    if (!leave || had.length === 0) return undefined;
    if (isLeft && had.every(({ spec }) => isYetToRun(spec, claim.object, c))) return [];
    return had.map(({ placed }) => placed.object.metadata.uid ?? '').sort();
  };
  const all = bound.flatMap((c) => {
    const by = giversOf(c);
    return by ? [[c, by] as const] : [];
  });
  const givenUp = Object.fromEntries(all);
  const isSaid = saysHold() || users.some(({ placed }) => saysHold(placed.object));
  const ofItself = (c: string) =>
    (leavesOut(own, c) && !isSaid) || (isUsed && volumesOf(claim.object) === 'recreate');
  const held = bound.filter((c) => !getOwn(givenUp, c) && !ofItself(c));
  const isAwaited = users.some(
    ({ placed: { object }, choice: { clusters }, spec }) =>
      !spec || !isRolledOut(object) || !isInPlace({ ...spec, clusters }, object),
  );
  const { copies = new Map() } = scene.input;
  const copiers = users.filter(({ placed }) => wordAs(placed) === 'copy');
  const isLeft = (c: string) => users.every(({ choice: { clusters } }) => !clusters.includes(c));
  // Once it was copied on from there it is so for good: a copy of the next trip has the name of this one's, and takes its place.
  const wasBefore = (c: string) => isLeft(c) && placement?.spec?.copiedFrom?.includes(c) === true;
  const isCopied = (c: string, { choice: { clusters } }: Decided) =>
    clusters.includes(c) || wasCopiedFrom(copies, name, c, clusters);
  const isUncopied = (c: string) =>
    getOwn(givenUp, c)?.length !== 0 && !wasBefore(c) && !copiers.every((user) => isCopied(c, user));
  const given = bound.filter((c) => !held.includes(c));
  const uncopied = given.filter(isUncopied);
  const copiedFrom = given.filter(
    (c) => isLeft(c) && copiers.length > 0 && getOwn(givenUp, c)?.length !== 0 && !uncopied.includes(c),
  );
  const awaited = isAwaited ? given : uncopied;
  return { held, awaited, uncopied, givenUp, copiedFrom: copiedFrom.sort(), isUsed };
}

/**
 * It was to come here with its data, and all of it still is where that comes from: what is on the claim here nobody has written but a copier. So
 * says its share; of one that merely has nothing to run the data may be its own.
 */
function isYetToRun(spec: PlacementSpec | undefined, claim: KubeObject, cluster: string): boolean {
  const { shares = {}, copies } = spec ?? {};
  if (!copies?.claims.includes(claim.metadata.name ?? '')) return false;
  const runs = ({ replicas = 0, held }: Share) => replicas > 0 || held !== undefined;
  const here = getOwn(shares, cluster);
  return (
    (!here || here.fresh === true) &&
    Object.entries(shares).some(([c, share]) => c !== cluster && runs(share))
  );
}

/**
 * Where a claim has data that is not what its workload runs with: what ran there, left, and was not copied to where it is since. To copy to
 * there would overwrite that.
 */
export function otherData(scene: Scene, claim: PlacedObject, workload: PlacementSpec | undefined): string[] {
  const { clusters = [], shares = {} } = workload ?? {};
  const { name = '' } = claim.object.metadata;
  const placement = placementOf(scene, claim);
  const { copies = new Map() } = scene.input;
  return boundOn(placement).filter(
    (c) =>
      !clusters.includes(c) &&
      !Object.hasOwn(shares, c) &&
      getOwn(placement?.spec?.givenUp ?? {}, c)?.length !== 0 &&
      placement?.spec?.copiedFrom?.includes(c) !== true &&
      !wasCopiedFrom(copies, name, c, clusters),
  );
}
