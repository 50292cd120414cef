import type { Share } from '../cluster/types.ts';
import { clip, covers, emptyRange, hull, type Range, sizeOf } from './divide.ts';
import { rangeOf } from './plan.ts';
import { availableOf } from './ready.ts';
import { isUnderWay, type Next, newcomer, present, presentShare, type Scene, sliceOf } from './scene.ts';

/** Kinds of which every target has a full copy. */
export function nextWhole(scene: Scene): Next {
  const { goal } = scene.plan;
  const next: Next = new Map();
  for (const [cluster, part] of goal) next.set(cluster, presentShare(scene, cluster) ?? newcomer(part));
  if (!isUnderWay(scene, () => false)) return next;
  const leavers = present(scene).filter(([cluster]) => !goal.has(cluster));
  const anyActive = present(scene).some(([, share]) => share.phase === 'Active');
  for (const [cluster, share] of leavers) {
    const isOnlyCopy = !anyActive && availableOf(share, sliceOf(scene, cluster)) > 0;
    if (share.phase === 'Active' || isOnlyCopy) next.set(cluster, share);
  }
  return next;
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
  const keep = underWay ? keepAvailable(scene, keepCounted(shares, goalOf, total), goalOf) : new Map();
  const next: Next = new Map();
  for (const [cluster, share] of shares) {
    const replicas = Math.max(goalOf(cluster), keep.get(cluster) ?? 0);
    if (goal.has(cluster) || replicas > 0) next.set(cluster, resizeCount(share, replicas));
  }
  for (const [cluster, part] of goal) {
    if (!presentShare(scene, cluster)) next.set(cluster, newcomer(part));
  }
  return next;
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

/** Never below what is available now: where those counted on have failed, half-made ones may be all there is. */
function keepAvailable(
  scene: Scene,
  keep: Map<string, number>,
  goalOf: (cluster: string) => number,
): Map<string, number> {
  const known = present(scene).map(([cluster, share]) => ({
    cluster,
    available: availableOf(share, sliceOf(scene, cluster)),
  }));
  const kept = ({ cluster, available }: { cluster: string; available: number }) =>
    Math.min(available, Math.max(goalOf(cluster), keep.get(cluster) ?? 0));
  const all = known.reduce((sum, k) => sum + k.available, 0);
  let missing = Math.min(scene.plan.total, all) - known.reduce((sum, k) => sum + kept(k), 0);
  const result = new Map(keep);
  for (const k of known.sort((a, b) => b.available - a.available || (a.cluster < b.cluster ? -1 : 1))) {
    const more = Math.min(missing, k.available - kept(k));
    if (more <= 0) continue;
    result.set(k.cluster, kept(k) + more);
    missing -= more;
  }
  return result;
}

function resizeCount(share: Share, replicas: number): Share {
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

/** StatefulSets: the same with ordinals, so that a replica that stays keeps its identity. */
export function nextRanges(scene: Scene): Next {
  const { goal, first, total } = scene.plan;
  const whole: Range = { start: first, end: first + total };
  const goalOf = (c: string) => rangeOf(goal.get(c), first);
  const now = (share: Share) => rangeOf(share, first);
  const shares = present(scene);
  const underWay = isUnderWay(scene, (c, share) => !covers(now(share), goalOf(c)));
  const held = underWay ? heldRanges(scene, whole) : new Map<string, Range>();
  const next: Next = new Map();
  for (const [cluster, share] of shares) {
    const range = hull(goalOf(cluster), held.get(cluster) ?? emptyRange);
    if (goal.has(cluster) || sizeOf(range) > 0) next.set(cluster, resizeRange(share, range, now(share)));
  }
  for (const [cluster, part] of goal) {
    if (!presentShare(scene, cluster)) next.set(cluster, newcomer(part));
  }
  return next;
}

function heldRanges(scene: Scene, whole: Range): Map<string, Range> {
  const first = scene.plan.first;
  const base = (share: Share): Range =>
    share.phase === 'Active'
      ? rangeOf(share, first)
      : share.settled
        ? rangeOf(share.settled, first)
        : emptyRange;
  const shares = present(scene);
  const held = new Map(shares.map(([c, share]) => [c, clip(base(share), whole)]));
  const available = (c: string, share: Share) => availableOf(share, sliceOf(scene, c));
  const all = shares.reduce((sum, [c, share]) => sum + available(c, share), 0);
  const kept = shares.filter(([c]) => sizeOf(held.get(c) ?? emptyRange) > 0 || scene.plan.goal.has(c));
  let missing =
    Math.min(scene.plan.total, all) - kept.reduce((sum, [c, share]) => sum + available(c, share), 0);
  for (const [c, share] of [...shares].sort((a, b) => available(...b) - available(...a))) {
    if (missing <= 0 || kept.some(([k]) => k === c)) continue;
    held.set(c, clip(rangeOf(share, first), whole));
    missing -= available(c, share);
  }
  return held;
}

function resizeRange(share: Share, range: Range, before: Range): Share {
  const numbers = { replicas: sizeOf(range), ordinalsStart: range.start };
  if (share.replicas === numbers.replicas && share.ordinalsStart === numbers.ordinalsStart) return share;
  const { settled, readySince: _restarts, ...rest } = share;
  const was = { replicas: sizeOf(before), ordinalsStart: before.start };
  if (share.phase === 'Active') {
    if (covers(before, range)) return { ...rest, ...numbers };
    return { ...rest, ...numbers, phase: 'Joining', settled: was };
  }
  if (settled && covers(rangeOf(settled, before.start), range)) {
    return { ...rest, ...numbers, phase: 'Active' };
  }
  return { ...rest, ...numbers, ...(settled && { settled }) };
}
