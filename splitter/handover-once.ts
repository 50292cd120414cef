import { nextCountsOnce } from './handover-counts.ts';
import { nextRanges } from './handover-ordinals.ts';
import { type Next, newcomer, present, presentShare, type Scene } from './scene.ts';
import { isSeen } from './stopped.ts';

/**
 * Break before make, for what may not run twice: a share that shrinks holds what it had until its cluster has said
 * that the pods are gone, and what is held anywhere is started nowhere else, however long the cluster is silent. The
 * targets are there, with nothing to run yet, before anybody shrinks, so that what breaks does so for a pod's start.
 */
export function nextOnce(scene: Scene): Next {
  return scene.plan.mode === 'ranges' ? nextRanges(scene) : nextCountsOnce(scene);
}

/** Full copies: the old one is gone before the new one is made. */
export function nextWholeOnce(scene: Scene): Next {
  const { goal } = scene.plan;
  const staying = present(scene).filter(([cluster]) => goal.has(cluster) || !isSeen(scene, cluster));
  const isThere = staying.every(([cluster]) => goal.has(cluster));
  if (!isThere || Object.keys(scene.shares).length > staying.length) return new Map(staying);
  return new Map([...goal].map(([c, part]) => [c, presentShare(scene, c) ?? newcomer(part)]));
}
