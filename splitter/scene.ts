import { askedSince } from '../cluster/heard.ts';
import type { ClusterSlice, Share } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Copying } from './copies.ts';
import type { ToldAt } from './lower.ts';
import type { Plan, Scaling, Shares, Slices } from './plan.ts';
import { isKeptFor, isLeanedOn, wasHeard } from './trust.ts';

/** What a hand-over step looks at. */
export interface Scene {
  root: KubeObject;
  plan: Plan;
  shares: Shares;
  slices: Slices;
  heardAt(cluster: string): number | undefined;
  /** Whether the pods there cannot be read: nobody would learn that they have stopped. Default: they can. */
  isBlind?: ((cluster: string) => boolean) | undefined;
  /** Whether what has ended may stay there. Default: it may not. */
  keepsEnded?: ((cluster: string) => boolean) | undefined;
  /** See ToldAt: where an autoscaler has the replicas. */
  toldAt?: ToldAt | undefined;
  /** See PlanOptions. */
  scaling?: Scaling | undefined;
  /** See Handover. */
  copying?: Copying | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

/** The shares to have from now on; one that is there and not named here leaves. */
export type Next = Map<string, Share>;

/** Shares that are there and not on their way out. */
export function present({ shares }: Scene): [cluster: string, share: Share][] {
  return Object.entries(shares).filter(([, share]) => share.phase !== 'Leaving');
}

export function presentShare({ shares }: Scene, cluster: string): Share | undefined {
  const share = Object.hasOwn(shares, cluster) ? shares[cluster] : undefined;
  return share?.phase === 'Leaving' ? undefined : share;
}

export function sliceOf({ slices }: Scene, cluster: string): ClusterSlice | undefined {
  return Object.hasOwn(slices, cluster) ? slices[cluster] : undefined;
}

export function newcomer(part: Partial<Share>): Share {
  return { ...part, phase: 'Joining' };
}

/** Others may go on its strength: it was ready for long enough, still is, and its cluster was heard of since. */
export function isCountedOn(scene: Scene, cluster: string): boolean {
  const share = presentShare(scene, cluster);
  if (share?.phase !== 'Active') return false;
  return !isLeanedOn(scene.root, scene.plan, scene.shares, cluster) || wasHeard(scene, cluster, share);
}

/** Some target is missing or not counted on yet, or is about to grow: until then nobody shrinks. */
export function isUnderWay(scene: Scene, grows: (cluster: string, share: Share) => boolean): boolean {
  return [...scene.plan.goal.keys()].some((cluster) => {
    const share = presentShare(scene, cluster);
    return share === undefined || !isCountedOn(scene, cluster) || grows(cluster, share);
  });
}

/** What its cluster says of it can be relied on: it was heard of since it was asked, where others would go on it. */
export function isSure(scene: Scene, cluster: string, share: Share): boolean {
  const { root, plan, shares } = scene;
  if (!isLeanedOn(root, plan, shares, cluster) && !isKeptFor(plan, shares, cluster)) {
    return scene.heardAt(cluster) !== undefined;
  }
  return askedSince(share) !== undefined && wasHeard(scene, cluster, share);
}
