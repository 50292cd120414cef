import { keyOf } from '../client/url.ts';
import { placedAs, placedKey, refOf } from '../cluster/closure.ts';
import type { PlacedKind } from '../cluster/kinds.ts';
import { rootCluster, volumesAnnotation } from '../cluster/names.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import { isReflected, reflectedFrom } from '../cluster/reflected.ts';
import type { ClosureRef, PhysicalCluster } from '../cluster/types.ts';
import type { WorkQueue } from '../controller/queue.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { textAt } from '../kube/untyped.ts';
import { isForeseen } from './foreseen.ts';
import { clusterMatters, nodeLabelsMatter, objectMatters, onlyBegins, placementMatters } from './matters.ts';
import { asksForNode } from './node-choice.ts';
import { isUsedByName } from './scope.ts';
import { wakeForPolicies } from './wake-policies.ts';
import { wakeForRules } from './wake-rules.ts';
import { namesClusters } from './wishes.ts';
import { workloadsIn } from './within.ts';
import { isClaims, keysConcernedBy, namespaceKey, type World } from './world.ts';

/**
 * What mostly follows from a decision that was just made need not be looked at at once, but with what else follows: the next decision,
 * if there is one before.
 */
const followsMs = 500;

/** Queues the Namespaces that a change may concern, as often as their decisions' cost allows. */
export function wake(world: World, queue: WorkQueue): void {
  const { standings, pace } = world;
  const wait = (key: string) => (standings.get(key) ? 0 : pace.wait(key));
  const soon = (key: string) => {
    standings.touch(key);
    queue.addAfter(key, pace.wait(key));
  };
  const within = (object: KubeObject, ref: ClosureRef | undefined, leastMs = 0) => {
    const key = namespaceKey(object);
    standings.touch(key, ref);
    queue.addAfter(key, Math.max(leastMs, wait(key)));
  };
  world.namespaces.on({
    add: (_, key) => soon(key),
    update: (now, old, key) => objectMatters(now, old) && soon(key),
    delete: (_, key) => soon(key),
  });
  world.placements.on({
    add: (placement) =>
      isForeseen(standings, namespaceKey(placement), placement) ||
      within(placement, placement.spec?.ref, followsMs),
    update: (now, old) =>
      placementMatters(now, old) &&
      !isForeseen(standings, namespaceKey(now), now, old) &&
      within(now, now.spec?.ref, onlyBegins(now, old) ? followsMs : 0),
    delete: (placement) => within(placement, placement.spec?.ref),
  });
  for (const [kind, informer] of world.objects) {
    // Reflected pods come and go in great numbers, and place nothing.
    const told = (object: KubeObject) =>
      within(object, isClaims(kind) && isReflected(object) ? undefined : refOf({ kind, object }));
    const counts = (object: KubeObject) => isPlaceable(kind, object) && isMentioned(world, kind, object);
    informer.on({
      add: (object) => (counts(object) || (isClaims(kind) && isReflected(object))) && told(object),
      update: (now, old) =>
        (((counts(now) || counts(old)) && objectMatters(now, old)) || holdsOtherwise(now, old)) && told(now),
      delete: (object) => (counts(object) || (isClaims(kind) && isReflected(object))) && told(object),
    });
  }
  // How far a copy is is no news; that it ended, or is gone, is: what was copied may leave where it was.
  world.copies.on({
    update: (now, old) => now.status?.phase !== old.status?.phase && within(now, undefined),
    delete: (copy) => within(copy, undefined),
  });
  wakeForPolicies(world, soon);
  wakeForRules(world, soon);
  const concerned = (cluster: PhysicalCluster) => {
    wakeConcerned(world, queue, cluster);
    // What held nothing of ours a moment ago may hold its credentials now.
    const { namespace } = cluster.spec?.kubeconfigSecretRef ?? {};
    if (!namespace) return;
    standings.touch(keyOf(rootCluster, '', namespace));
    queue.add(keyOf(rootCluster, '', namespace));
  };
  world.clusters.on({
    add: concerned,
    update: (now, old) =>
      clusterMatters(now, old)
        ? concerned(now)
        : nodeLabelsMatter(now, old) && wakeConcerned(world, queue, now, asksForNodes),
    delete: concerned,
  });
}

/** A claim that is reflected holds data now, or no longer; or something else is said of what becomes of that. */
function holdsOtherwise(now: KubeObject, old: KubeObject): boolean {
  if (now.kind !== 'PersistentVolumeClaim' || !isReflected(now)) return false;
  const held = (claim: KubeObject) => [
    textAt(claim, 'status', 'phase'),
    textAt(claim, 'metadata', 'annotations', volumesAnnotation),
    claim.metadata.deletionTimestamp === undefined,
    ...reflectedFrom(claim),
  ];
  return !deepEqual(held(now), held(old));
}

function asksForNodes(world: World, key: string): boolean {
  for (const { object } of workloadsIn(world, key)) if (asksForNode(object)) return true;
  return false;
}

/**
 * Namespaces that are on this cluster, or not gone from it yet, ask for it, or are somewhere for want of a better place; of these
 * whoever `counts`.
 */
export function wakeConcerned(
  world: World,
  queue: Pick<WorkQueue, 'add'>,
  { metadata: { name = '' } }: PhysicalCluster,
  counts: (world: World, key: string) => boolean = () => true,
): void {
  for (const key of new Set([...world.open, ...keysConcernedBy(world, name)])) {
    if (!counts(world, key)) continue;
    world.standings.touch(key);
    queue.add(key);
  }
}

/** What nobody names changes nothing. */
function isMentioned(world: World, kind: PlacedKind, object: KubeObject): boolean {
  if (!isUsedByName(kind) || namesClusters(object)) return true;
  return world.mentioned.has(namespaceKey(object), placedKey(placedAs(kind, object)));
}
