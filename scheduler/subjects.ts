import { closureOf, type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import { claimsOf } from './claims.ts';
import { policiesFor } from './policies.ts';
import { isRolledOut } from './rollout.ts';
import { currentOf, isLive, placementOf, type Scene } from './scene.ts';
import { leavesOut, type Wish, wishOf } from './wishes.ts';

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
  return scene.input.objects
    .filter((o) => o.kind.role === 'workload' && isLive(scene, o))
    .sort(byRef)
    .map((placed) => subjectOf(scene, placed));
}

function subjectOf(scene: Scene, placed: PlacedObject): Subject {
  const { namespace, policies = [] } = scene.input;
  const placement = placementOf(scene, placed);
  const requires = requiredBy(scene, placed, placement);
  const claims = claimsOf(scene, placed, requires);
  const wish = wishOf(placed.object, namespace, policiesFor(placed, namespace, policies));
  const told = currentOf(placement, placed.object);
  const back = heldBack(scene, placement, { claims, wish });
  const current = back.length === 0 ? told : [...back, ...told.filter((c) => claims.hold.has(c))].sort();
  return { placed, placement, current, wish, requires, claims };
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

function byRef(a: PlacedObject, b: PlacedObject): number {
  return placedKey(a) < placedKey(b) ? -1 : 1;
}
