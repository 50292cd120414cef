import { refKey } from '../cluster/closure.ts';
import { podCount } from '../cluster/pod-spec.ts';
import { podsOn } from '../cluster/spread.ts';
import type { Placement } from '../cluster/types.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { onlyBegins } from './matters.ts';
import type { Standing, Standings } from './standing.ts';
import type { Decided } from './types.ts';
import { podsOf } from './usage.ts';

/**
 * Whether the last decision about a Namespace goes by this already: a Placement that came as it was to be made, or whose shares begin
 * where it is to be, each with what was counted for it. One that is about it once more would say the same.
 */
export function isForeseen(standings: Standings, key: string, now: Placement, old?: Placement): boolean {
  const standing = standings.get(key);
  const { spec, metadata } = now;
  if (!standing || !spec || metadata.deletionTimestamp !== undefined || spec.orphaned !== undefined)
    return false;
  const decided = standing.decided(refKey(spec.ref));
  if (!decided || !isOfItself(decided) || spec.ref.uid !== decided.placed.object.metadata.uid) return false;
  return old ? begins(decided, now, old) : isAsMade(standing, decided, now);
}

/** What becomes of it hangs on its object alone, and on clusters. */
function isOfItself({ placed: { kind }, copies, requires }: Decided): boolean {
  const isApart = kind.rule !== undefined || ['pods', 'statefulsets'].includes(kind.resource);
  const hasData = copies !== undefined || requires.some((ref) => ref.resource === 'persistentvolumeclaims');
  return !isApart && !hasData;
}

/** With its first shares, or without. */
function isAsMade(standing: Standing, { placed: { object }, choice }: Decided, now: Placement): boolean {
  if (now.spec === undefined) return false;
  const { shares, ...spec } = now.spec;
  if (!deepEqual(spec, standing.made(refKey(spec.ref)))) return false;
  return !shares || (isWhereDecided(choice, now) && isAsCounted(object, now));
}

function isWhereDecided({ clusters }: Decided['choice'], { spec }: Placement): boolean {
  return Object.entries(spec?.shares ?? {}).every(
    ([name, { phase }]) => phase === 'Joining' && clusters.includes(name),
  );
}

function begins({ placed: { object }, choice }: Decided, now: Placement, old: Placement): boolean {
  const there = Object.keys(now.spec?.shares ?? {});
  return (
    onlyBegins(now, old) &&
    deepEqual(now.spec?.clusters, choice.clusters) &&
    there.every((name) => choice.clusters.includes(name)) &&
    [now, old].every((placement) => isAsCounted(object, placement))
  );
}

/** It has no other pods where it is than it was to have there. */
function isAsCounted(workload: KubeObject, placement: Placement): boolean {
  const { clusters = [], spread } = placement.spec ?? {};
  const wanted = podsOn(podCount(workload), clusters, spread);
  const pods = podsOf(workload, placement);
  return pods.size === wanted.size && [...pods].every(([name, n]) => wanted.get(name) === n);
}
