import { closureOf, type PlacedObject, placedKey, refKey } from '../cluster/closure.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import { claimsOf } from './claims.ts';
import { policiesFor } from './policies.ts';
import { isRolledOut } from './rollout.ts';
import { currentOf, isLive, placementOf, type Scene } from './scene.ts';
import { type Wish, wishOf } from './wishes.ts';

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
  return {
    placed,
    placement,
    current: currentOf(placement, placed.object),
    wish: wishOf(placed.object, namespace, policiesFor(placed, namespace, policies)),
    requires,
    claims: claimsOf(scene, placed, requires),
  };
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
