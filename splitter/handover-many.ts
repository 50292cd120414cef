import { kindNamed } from '../cluster/kinds.ts';
import type { Share } from '../cluster/types.ts';
import { availableOf } from './ready.ts';
import {
  isSure,
  isUnderWay,
  type Next,
  newcomer,
  present,
  presentShare,
  type Scene,
  sliceOf,
} from './scene.ts';

/** Kinds of which every target has a full copy. An autoscaler's bounds follow its target's shares at once. */
export function nextWhole(scene: Scene): Next {
  const { goal } = scene.plan;
  const next: Next = new Map();
  for (const [cluster, part] of goal) {
    const share = presentShare(scene, cluster);
    next.set(cluster, share ? { ...withoutPart(share), ...part } : newcomer(part));
  }
  if (!isUnderWay(scene, () => false)) return next;
  const leavers = present(scene).filter(([cluster]) => !goal.has(cluster));
  const anyActive = present(scene).some(([, share]) => share.phase === 'Active');
  const runs = kindNamed(scene.root.kind)?.role === 'workload';
  for (const [cluster, share] of leavers) {
    // What has never settled may be ready by now, whatever was heard of it last.
    const isOnlyCopy = !anyActive && (runs || availableOf(share, sliceOf(scene, cluster)) > 0);
    if (share.phase === 'Active' || isOnlyCopy) next.set(cluster, share);
  }
  return next;
}

/** An autoscaler that was to do nothing is to go on where its part says no more of that. */
function withoutPart({ suspend: _suspend, ...share }: Share): Share {
  return share;
}

const replicasOf = (share: Share | undefined): number => share?.replicas ?? 0;

/** Replicas that were there, and ready, before this hand-over began. */
function countedReplicas(share: Share): number {
  const counted = share.phase === 'Active' ? replicasOf(share) : (share.settled?.replicas ?? 0);
  return Math.min(counted, replicasOf(share));
}

/** Kinds whose replicas are divided: each target has the larger of its goal and what it must keep for now. */
export function nextCounts(scene: Scene): Next {
  const { goal, total } = scene.plan;
  const goalOf = (c: string) => goal.get(c)?.replicas ?? 0;
  const shares = present(scene);
  const underWay = isUnderWay(scene, (c, share) => goalOf(c) > replicasOf(share));
  const keep = underWay
    ? keepAvailable(scene, keepUnsettled(scene, keepCounted(shares, goalOf, total), goalOf), goalOf)
    : new Map<string, number>();
  const next: Next = new Map();
  for (const [cluster, share] of shares) {
    const wanted = Math.max(goalOf(cluster), keep.get(cluster) ?? 0);
    const replicas = isUnheard(scene, cluster, wanted) ? replicasOf(share) : wanted;
    if (goal.has(cluster) || replicas > 0) next.set(cluster, resizeCount(share, replicas));
  }
  for (const [cluster, part] of goal) {
    if (!presentShare(scene, cluster)) next.set(cluster, newcomer(part));
  }
  return next;
}

/**
 * It was to have fewer, and is to have as many again as its cluster said last: that was of before, and some of them may be gone by now. So
 * it is heard to have fewer first; on one cluster alone nobody goes on its strength.
 */
function isUnheard(scene: Scene, cluster: string, wanted: number): boolean {
  const slice = sliceOf(scene, cluster);
  const share = presentShare(scene, cluster);
  const isAlone = Object.keys(scene.shares).length + scene.plan.goal.size <= 2;
  if (isAlone || slice?.present !== true || slice.error || share?.scaled !== undefined) return false;
  return wanted > replicasOf(share) && slice.share?.replicas === wanted;
}

/** As many as the whole is to have, of those that were counted on: where they are wanted first. */
function keepCounted(
  shares: readonly [string, Share][],
  goalOf: (cluster: string) => number,
  total: number,
): Map<string, number> {
  const keep = new Map(shares.map(([c, share]) => [c, Math.min(countedReplicas(share), goalOf(c))]));
  let left = total - [...keep.values()].reduce((sum, n) => sum + n, 0);
  const order = [...shares].sort(
    ([a, x], [b, y]) =>
      Number(y.phase === 'Active') - Number(x.phase === 'Active') ||
      countedReplicas(y) - countedReplicas(x) ||
      (a < b ? -1 : 1),
  );
  for (const [cluster, share] of order) {
    const kept = keep.get(cluster) ?? 0;
    const more = Math.max(0, Math.min(left, countedReplicas(share) - kept));
    keep.set(cluster, kept + more);
    left -= more;
  }
  return keep;
}

/**
 * What has never settled may all be ready by now, whatever was heard of it last: where what is counted on does not
 * make up the whole, it holds the rest, first where it is to leave.
 */
function keepUnsettled(
  scene: Scene,
  keep: ReadonlyMap<string, number>,
  goalOf: (cluster: string) => number,
): Map<string, number> {
  const result = new Map(keep);
  const known = knownOf(scene, keep, goalOf);
  let left = known.reduce((rest, k) => rest - heldOf(scene, k), scene.plan.total);
  for (const k of known.filter(({ shrinks }) => shrinks).sort(leaversFirst(scene))) {
    const more = Math.min(left, replicasOf(presentShare(scene, k.cluster)) - k.kept);
    if (more <= 0) continue;
    result.set(k.cluster, k.kept + more);
    if (k.isSure) left -= more;
  }
  return result;
}

/**
 * Never below what is available now: where those counted on have failed, half-made ones may be all there is. What
 * has only just become available where it is to be does not count: it has yet to settle.
 */
function keepAvailable(
  scene: Scene,
  keep: Map<string, number>,
  goalOf: (cluster: string) => number,
): Map<string, number> {
  const known = knownOf(scene, keep, goalOf);
  const all = known.reduce((sum, k) => sum + k.available, 0);
  const counted = known.reduce((sum, k) => sum + sureOf(k), 0);
  let missing = Math.min(scene.plan.total, all) - counted;
  const result = new Map(keep);
  for (const k of known.filter(({ shrinks }) => shrinks).sort(leaversFirst(scene))) {
    const more = Math.min(missing, k.available - k.kept);
    if (more <= 0) continue;
    result.set(k.cluster, k.kept + more);
    if (k.isSure) missing -= more;
  }
  return result;
}

interface Known {
  cluster: string;
  available: number;
  kept: number;
  isSure: boolean;
  shrinks: boolean;
}

function knownOf(
  scene: Scene,
  keep: ReadonlyMap<string, number>,
  goalOf: (cluster: string) => number,
): Known[] {
  return present(scene).map(([cluster, share]) => ({
    cluster,
    available: availableOf(share, sliceOf(scene, cluster)),
    kept: keep.get(cluster) ?? 0,
    isSure: isSure(scene, cluster, share),
    shrinks: replicasOf(share) > goalOf(cluster),
  }));
}

/** Of what it keeps anyway, that which is there as far as is known. */
function heldOf(scene: Scene, { cluster, available, kept }: Known): number {
  if (scene.heardAt(cluster) === undefined) return 0;
  return presentShare(scene, cluster)?.phase === 'Active' ? Math.min(available, kept) : kept;
}

/** Of what it keeps anyway, that which is surely there. */
function sureOf({ isSure: isKnown, available, kept }: Known): number {
  return isKnown ? Math.min(available, kept) : 0;
}

/** Who leaves must not go on the strength of who stays and has not settled either. */
function leaversFirst({ plan }: Scene): (a: Known, b: Known) => number {
  return (a, b) =>
    Number(plan.goal.has(a.cluster)) - Number(plan.goal.has(b.cluster)) ||
    b.available - a.available ||
    (a.cluster < b.cluster ? -1 : 1);
}

export function resizeCount(share: Share, replicas: number): Share {
  const before = replicasOf(share);
  if (replicas === before) return share;
  const { settled, readySince: _restarts, ...rest } = share;
  if (share.phase === 'Active') {
    if (replicas < before) return { ...rest, replicas };
    return { ...rest, replicas, phase: 'Joining', settled: { replicas: before } };
  }
  if (settled && replicas <= (settled.replicas ?? 0)) return { ...rest, replicas, phase: 'Active' };
  return { ...rest, replicas, ...(settled && { settled }) };
}
