import { isClaimRef } from '../cluster/claims.ts';
import { closureOf, type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import { isFinished } from '../cluster/kinds.ts';
import { isDrained } from '../cluster/life.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import type { Toleration } from '../cluster/policy.ts';
import { leavesUnheard } from '../cluster/share.ts';
import { silenceOf } from '../cluster/silence.ts';
import type { ClosureRef, PhysicalCluster, Placement } from '../cluster/types.ts';
import { volumesSaid } from '../cluster/volumes.ts';
import { claimsOf } from './claims.ts';
import { policiesFor } from './policies.ts';
import { isRolledOut } from './rollout.ts';
import { currentOf, isLive, placementOf, type Scene } from './scene.ts';
import { evictingOf } from './tolerations.ts';
import { leavesOut, tolerationsOf, type Wish, wishOf } from './wishes.ts';

/** A workload of a Namespace before it is decided about: all that does not hang on where the others go. */
export interface Subject {
  placed: PlacedObject;
  placement: Placement | undefined;
  /** Where it is, or was last told to be. */
  current: readonly string[];
  wish: Wish | undefined;
  requires: ClosureRef[];
  claims: ReturnType<typeof claimsOf>;
}

/** By their references. */
export function subjectsOf(scene: Scene): Subject[] {
  const all = scene.input.objects.filter((o) => o.kind.role === 'workload' && isLive(scene, o));
  const running = all.filter(({ object }) => !isFinished(object)).map((placed) => subjectOf(scene, placed));
  if (running.length === all.length) return running.sort(byRef);
  const used = new Set(running.flatMap(({ requires }) => requires.map(refKey)));
  const ended = all.filter(({ object }) => isFinished(object));
  return [...running, ...ended.map((placed) => subjectOf(scene, placed, used))].sort(byRef);
}

/** `used`: what those need that run. */
function subjectOf(scene: Scene, placed: PlacedObject, used?: ReadonlySet<string>): Subject {
  const { namespace, policies = [] } = scene.input;
  const placement = placementOf(scene, placed);
  const requires = used ? leftTo(scene, placed, used) : requiredBy(scene, placed, placement);
  const claims = claimsOf(scene, placed, requires);
  const wish = wishOf(placed.object, namespace, policiesFor(placed, namespace, policies));
  const told = currentOf(placement, placed.object);
  const back = heldBack(scene, placement, { claims, wish });
  const current =
    back.length === 0
      ? stillThere(scene, placement, { told, claims, wish })
      : [...back, ...told.filter((c) => claims.hold.has(c))].sort();
  return { placed, placement, current, wish, requires, claims };
}

/**
 * Where it was last told to be; where none of these is to stay, nor holds its data, and it has not left another that is, it has not
 * moved: nothing joins what goes, and what runs elsewhere has another place.
 */
function stillThere(
  scene: Scene,
  placement: Placement | undefined,
  { told, claims, wish }: { told: string[] } & Pick<Subject, 'claims' | 'wish'>,
): string[] {
  const { clusters } = scene;
  const tolerations = tolerationsOf(wish);
  const going = (c: string) => goingOf(scene, clusters.get(c), tolerations);
  const end = Math.min(...told.map(going));
  const isHeld = told.some((c) => claims.hold.has(c) && clusters.has(c));
  const still = Object.entries(placement?.spec?.shares ?? {}).flatMap(([c, share]) => {
    const hasLeft = share.phase === 'Leaving' || leavesUnheard(share);
    return !hasLeft && !told.includes(c) && going(c) < end ? [c] : [];
  });
  return told.length > 0 && still.length > 0 && !isHeld ? still.sort() : told;
}

/** The higher, the less of what is there is to stay. On one that is silent nobody would learn that it is ready again. */
function goingOf(
  { input: { now }, listened }: Scene,
  cluster: PhysicalCluster | undefined,
  tolerations: readonly Toleration[],
): number {
  if (!cluster) return 3;
  if (cluster.metadata.deletionTimestamp !== undefined) return 2;
  const { until = Number.POSITIVE_INFINITY } = evictingOf(cluster, tolerations, listened) ?? {};
  return isDrained(cluster) || silenceOf(cluster) || until <= now ? 1 : 0;
}

/**
 * Where it still runs with data that its user holds by now, while it is told to be elsewhere without: the word was taken back on the
 * way. There it is, then, and elsewhere only with what has data there too.
 */
function heldBack(
  { clusters }: Scene,
  placement: Placement | undefined,
  { claims: { hold }, wish }: Pick<Subject, 'claims' | 'wish'>,
): string[] {
  const { clusters: told = [], shares = {} } = placement?.spec ?? {};
  if (told.length === 0 || hold.size === 0) return [];
  return Object.entries(shares).flatMap(([c, { phase, replicas = 1 }]) => {
    const isHeld = hold.has(c) && clusters.has(c) && !leavesOut(wish, c);
    return isHeld && !told.includes(c) && phase !== 'Leaving' && replicas > 0 ? [c] : [];
  });
}

/**
 * What keeps what has ended company: its data, where that is beside it, since nothing comes for its sake. Where somebody uses that who runs, it is
 * that one's to say what becomes of it, unless this says itself that it is held.
 */
function leftTo(scene: Scene, placed: PlacedObject, used: ReadonlySet<string>): ClosureRef[] {
  const isHeld = volumesSaid(placed.object) === 'hold';
  const there = Object.keys(placementOf(scene, placed)?.spec?.shares ?? {});
  const isBeside = (ref: ClosureRef) => {
    const { clusters = [], shares = {} } = scene.records.get(refKey(ref))?.spec ?? {};
    const on = [...clusters, ...Object.keys(shares)];
    return there.length === 0 || on.length === 0 || on.some((c) => there.includes(c));
  };
  return closureOf(placed.object, scene.index).filter(
    (ref) => isClaimRef(ref) && (isHeld || !used.has(refKey(ref))) && isBeside(ref),
  );
}

/** What goes along with its pods: those of its template, and while others are left what these have. */
function requiredBy(scene: Scene, placed: PlacedObject, placement: Placement | undefined): ClosureRef[] {
  const { byKey } = scene.index;
  const now = closureOf(placed.object, scene.index);
  if (isRolledOut(placed.object)) return now;
  const keys = new Set(now.map(refKey));
  const former = (placement?.spec?.requires ?? []).filter((ref) => {
    const there = byKey.get(refKey(ref));
    return !keys.has(refKey(ref)) && there !== undefined && isPlaceable(there.kind, there.object);
  });
  return [...now, ...former].sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

function byRef({ placed: a }: Subject, { placed: b }: Subject): number {
  return placedKey(a) < placedKey(b) ? -1 : 1;
}
