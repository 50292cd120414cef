import type { Share } from '../cluster/types.ts';
import { numberAt } from '../kube/untyped.ts';
import { covers, hull, type Range, sizeOf } from './divide.ts';
import { rangeOf, type Slices } from './plan.ts';
import { isCountedOn, present, type Scene } from './scene.ts';

/** Nobody holds more than it has, and nobody is on its way out. */
export function isAtRest({ shares }: Scene): boolean {
  return Object.values(shares).every((share) => share.phase !== 'Leaving' && share.held === undefined);
}

export function allCountedOn(scene: Scene): boolean {
  return [...scene.plan.goal.keys()].every((cluster) => isCountedOn(scene, cluster));
}

export const isHeard = (scene: Scene, cluster: string): boolean => scene.heardAt(cluster) !== undefined;

/** What stops there is heard to have stopped. Else it would be gone, and could be started nowhere. */
export const isSeen = (scene: Scene, cluster: string): boolean =>
  isHeard(scene, cluster) && scene.isBlind?.(cluster) !== true;

/**
 * Of ordinals: its autoscaler there, if any, has taken it that they are on their way. Until then, and where it refuses that, it may
 * put back what another would be told to run. Where there are to be none, none does anything.
 */
export function isStill({ toldAt, plan }: Pick<Scene, 'toldAt' | 'plan'>, cluster: string): boolean {
  const told = plan.mode === 'ranges' ? toldAt?.(cluster) : undefined;
  return told === undefined || told.suspend === true || plan.total === 0;
}

/** See Handover. */
export function blindIn(scene: Scene): string[] {
  if (!scene.plan.once) return [];
  return givers(scene, (c) => scene.isBlind?.(c) === true);
}

/** See Handover. */
export function refusingIn(scene: Scene): string[] {
  if (scene.plan.mode !== 'ranges' || givers(scene, () => true).length === 0) return [];
  const refuses = (c: string) => scene.toldAt?.(c)?.refuses === true && !isStill(scene, c);
  return present(scene)
    .filter(([c, share]) => refuses(c) && sizeOf(heldRange(share, scene.plan.first)) > 0)
    .map(([c]) => c)
    .sort();
}

function givers(scene: Scene, stays: (cluster: string) => boolean): string[] {
  const { goal, first } = scene.plan;
  return present(scene)
    .filter(([c, share]) => stays(c) && !covers(rangeOf(goal.get(c), first), heldRange(share, first)))
    .map(([c]) => c)
    .sort();
}

/** Its pods beyond what it has been told to run are gone: its controller has seen that, and none is left. */
export function isReleased(slices: Slices, cluster: string, share: Share, first: number): boolean {
  const slice = Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
  const { replicas = 0, ordinalsStart } = share;
  const said = slice?.share;
  if (slice?.present !== true || !slice.pods || !said || slice.pods.since !== share.held?.since) return false;
  // An autoscaler may have made them fewer.
  const isFewer = share.scaled !== undefined && (said.replicas ?? 0) < replicas;
  if (said.scaled !== share.scaled || said.ordinalsStart !== ordinalsStart) return false;
  if (said.replicas !== replicas && !isFewer) return false;
  const { count, ordinals } = slice.pods;
  if (count > replicas || (numberAt(slice.status, 'replicas') ?? 0) > replicas) return false;
  return count === 0 || !ordinals || covers(rangeOf(share, first), ordinals);
}

/** All that it may run: what it is told to, and what it was told to before and has not been heard to have stopped. */
export function heldRange(share: Share, first: number): Range {
  const told = rangeOf(share, first);
  return share.held ? hull(told, rangeOf(share.held, first)) : told;
}

export const heldCount = (share: Share): number => Math.max(share.replicas ?? 0, share.held?.replicas ?? 0);
