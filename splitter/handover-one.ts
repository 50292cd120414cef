import { isFinished } from '../cluster/kinds.ts';
import type { Share } from '../cluster/types.ts';
import { timestamp } from '../kube/timestamp.ts';
import { at, listAt, numberAt, textAt } from '../kube/untyped.ts';
import type { Part, Shares } from './plan.ts';
import {
  isCountedOn,
  isUnderWay,
  type Next,
  newcomer,
  present,
  presentShare,
  type Scene,
  sliceOf,
} from './scene.ts';

/**
 * CronJobs: one target runs, the others are suspended. Between two there is a moment when nobody runs, never
 * one when both do: the old one is suspended and has said so before the new one is let go, and it leaves only
 * when its running Jobs are done.
 */
export function nextSingle(scene: Scene): Next {
  const { goal } = scene.plan;
  const chosen = [...goal].find(([, part]) => part.suspend !== true)?.[0];
  const next: Next = new Map();
  for (const cluster of goal.keys()) {
    next.set(cluster, presentShare(scene, cluster) ?? newcomer({ suspend: true }));
  }
  const underWay = isUnderWay(scene, () => false);
  for (const [cluster, share] of present(scene)) {
    if (cluster === chosen) continue;
    const replaced = chosen === undefined || isCountedOn(scene, chosen);
    if (goal.has(cluster)) next.set(cluster, { ...share, suspend: true });
    else if (!replaced) next.set(cluster, share);
    else if (underWay || isBusy(scene, cluster)) next.set(cluster, { ...share, suspend: true });
  }
  if (chosen !== undefined) {
    const share = next.get(chosen);
    if (share && othersWait(scene, chosen, next)) next.set(chosen, running(scene, share));
  }
  return next;
}

/** What a cluster says of the time to come would keep it from running at all until then. */
function running({ root, slices, now }: Scene, share: Share): Share {
  const { suspend, ...rest } = share;
  if (suspend !== true) return rest;
  const said = [root.status, ...Object.values(slices).map(({ status }) => status)];
  const ran = said.map((status) => Date.parse(textAt(status, 'lastScheduleTime') ?? '') || 0);
  const last = Math.min(Math.max(...ran), now);
  return { ...rest, ...(last > 0 && { ranAt: timestamp(last) }) };
}

/** It may still start, or still runs, Jobs. */
function isBusy(scene: Scene, cluster: string): boolean {
  const slice = sliceOf(scene, cluster);
  return !hasStopped(scene, cluster) || listAt(slice?.status, 'active').length > 0;
}

/** That it is absent proves nothing: that may have been said before it was applied. */
function hasStopped(scene: Scene, cluster: string): boolean {
  const slice = sliceOf(scene, cluster);
  return slice?.present === true && slice.share?.suspend === true && slice.error === undefined;
}

/**
 * Every other share is to wait, or to go, and its cluster has said that it does; none of its Jobs runs there where there may be
 * one at a time.
 */
function othersWait(scene: Scene, chosen: string, next: Next): boolean {
  const isOneAtATime = at(scene.root, 'spec', 'concurrencyPolicy') === 'Forbid';
  return Object.keys(scene.shares).every((cluster) => {
    if (cluster === chosen) return true;
    const mayRun = next.has(cluster) && next.get(cluster)?.suspend !== true;
    return !mayRun && (isOneAtATime ? !isBusy(scene, cluster) : hasStopped(scene, cluster));
  });
}

/**
 * Jobs, and bare Pods that have ended: what has begun is not begun again elsewhere. A started Job keeps its
 * clusters to the end; one that has ended joins nowhere, and leaves what is to be empty. One that has not
 * begun is taken away first and then given to its new targets. Where a part has failed the whole has: the others stop.
 */
export function nextBatch(scene: Scene): Next {
  const { goal } = scene.plan;
  const shares = present(scene);
  const stays = (cluster: string) => goal.has(cluster) || scene.keepsEnded?.(cluster) === true;
  if (isFinished(scene.root)) return new Map(shares.filter(([cluster]) => stays(cluster)));
  const started = isRun(scene);
  if (started && shares.some(([cluster]) => endOf(scene, cluster) === 'Failed'))
    return new Map(shares.map(([c, share]) => [c, endOf(scene, c) ? share : { ...share, suspend: true }]));
  const next: Next = new Map();
  for (const [cluster, share] of shares) {
    const part = goal.get(cluster);
    // A Job's completions cannot be changed: a part of another size is another Job.
    if (part && part.completions === share.completions) next.set(cluster, resizeBatch(share, part));
    else if (started) next.set(cluster, share);
  }
  if (started) return next;
  const vacated = Object.keys(scene.shares).every((cluster) => next.has(cluster));
  if (!vacated) return next;
  for (const [cluster, part] of goal) if (!next.has(cluster)) next.set(cluster, newcomer(part));
  return next;
}

/** What had come on a cluster that is given up has come: one of the other parts of the Job remembers it. */
export function withCame(
  remaining: Shares,
  { root, previous, slices }: Pick<Scene, 'root' | 'slices'> & { previous: Shares },
): Shares {
  if (root.kind !== 'Job') return remaining;
  const [heir] = Object.keys(remaining).sort();
  const came = Object.entries(previous).reduce((sum, [cluster, { completions = 0, came: before = 0 }]) => {
    if (Object.hasOwn(remaining, cluster)) return sum;
    const said = Object.hasOwn(slices, cluster) ? numberAt(slices[cluster]?.status, 'succeeded') : undefined;
    return sum + before + Math.max(0, Math.min(completions, Math.trunc(said ?? 0)));
  }, 0);
  const share = heir === undefined ? undefined : remaining[heir];
  if (came === 0 || heir === undefined || !share) return remaining;
  return { ...remaining, [heir]: { ...share, came: (share.came ?? 0) + came } };
}

/** Of the part there. */
function endOf(scene: Scene, cluster: string): 'Failed' | 'Complete' | undefined {
  const status = sliceOf(scene, cluster)?.status;
  if (!isFinished({ kind: 'Job', status })) return undefined;
  const types = listAt(status, 'conditions')
    .filter((c) => at(c, 'status') === 'True')
    .map((c) => at(c, 'type'));
  return types.includes('Failed') ? 'Failed' : 'Complete';
}

/** It has started where it is, and ends there. */
function isRun(scene: Scene): boolean {
  return hasStarted(scene) && present(scene).length > 0;
}

/** Nobody else gets a part of it any more: it runs where it is, or has ended. */
export function joinsNobody(scene: Scene): boolean {
  return scene.plan.mode === 'batch' && (isFinished(scene.root) || isRun(scene));
}

function resizeBatch({ parallelism: _before, ...share }: Share, part: Part): Share {
  return { ...share, ...part };
}

/** Any cluster says, or has said, that pods of it ran. */
export function hasStarted({ root, slices }: Pick<Scene, 'root' | 'slices'>): boolean {
  return [root.status, ...Object.values(slices).map((slice) => slice.status)].some(
    (status) =>
      textAt(status, 'startTime') !== undefined ||
      ['active', 'succeeded', 'failed'].some((field) => (numberAt(status, field) ?? 0) > 0),
  );
}
