import {
  isUsersEndpoints,
  type NamespaceIndex,
  type PlacedObject,
  placedKey,
  refKey,
} from '../cluster/closure.ts';
import { clustersAnnotation, volumesAnnotation } from '../cluster/names.ts';
import { formatClusters, parseClusters } from '../cluster/placement.ts';
import type { ClosureRef, PhysicalCluster } from '../cluster/types.ts';
import { chooseAll } from './choose.ts';
import { objection } from './filter.ts';
import type { Choice, Situation } from './judge.ts';
import { currentOf, isLive, placementOf, type Scene } from './scene.ts';
import { staysOn } from './stays.ts';
import type { Decided } from './types.ts';
import { unmoved } from './unread.ts';
import { nothingUsed } from './usage.ts';
import { closureWish, type Wish } from './wishes.ts';

/**
 * What goes along is wherever a workload that needs it is to be, or still is; where a user, or the Namespace,
 * wants it for its own sake; and a claim where it holds data.
 */
export function decideClosure(scene: Scene, workloads: readonly Decided[]): Decided[] {
  const rest = [...(scene.input.beside?.needed ?? [])];
  const needed = new Map(rest.map(([key, clusters]) => [key, new Set(clusters)]));
  const need = (refs: readonly ClosureRef[], clusters: readonly string[]) => {
    for (const ref of refs) {
      const set = needed.get(refKey(ref)) ?? new Set();
      for (const cluster of clusters) set.add(cluster);
      needed.set(refKey(ref), set);
    }
  };
  const live = new Set(workloads.map(({ placed }) => placed.object.metadata.uid));
  for (const { placed, choice, requires } of workloads) {
    const shares = Object.keys(placementOf(scene, placed)?.spec?.shares ?? {});
    need(requires, [...choice.clusters, ...shares]);
  }
  for (const { spec } of scene.input.placements) {
    if (spec && !live.has(spec.ref.uid)) need(spec.requires ?? [], Object.keys(spec.shares ?? {}));
  }
  return scene.input.objects
    .filter((o) => o.kind.role === 'closure' && isLive(scene, o) && isUsers(o, scene.index))
    .flatMap((placed): Decided[] => {
      const along = needed.get(placedKey(placed));
      const wish = closureWish(placed.object, scene.input.namespace);
      const { isUsed, givenUp, copiedFrom, uncopied, ...stays } = staysOn(scene, placed, wish, workloads);
      const held = stays.held.filter((c) => scene.clusters.has(c));
      const awaited = stays.awaited.filter((c) => scene.clusters.has(c));
      if (!along && !wish && held.length + awaited.length === 0) return [];
      const chosen = chooseAlong(scene, placed, {
        wish,
        along: along ?? new Set(),
        held,
        awaited,
        uncopied,
        isUsed,
      });
      const choice = {
        ...chosen,
        ...(Object.keys(givenUp).length > 0 && { givenUp }),
        ...(copiedFrom.length > 0 && { copiedFrom }),
      };
      return [{ placed, wish, requires: [], choice: unmoved(scene, placed, choice) }];
    });
}

function isUsers({ kind, object }: PlacedObject, index: NamespaceIndex): boolean {
  if (kind.role !== 'closure' || kind.reach !== 'backs') return true;
  return isUsersEndpoints(object, index);
}

function isDrivenAway({ clusters, input: { now } }: Scene, name: string): boolean {
  const cluster = clusters.get(name);
  return objection({ name, cluster, now, isThere: true, need: nothingUsed, used: nothingUsed }) !== undefined;
}

const isAwaited = 'what uses it is not in place without it yet';
export const isUncopied = 'its data is there, and nobody has said that it was copied to where it is used';
const holdsOwnData = 'it holds data there, which cannot be moved';
/** What is in use elsewhere nobody wants to delete. */
const wayOut = (isUsed: boolean) =>
  isUsed
    ? `annotate it with ${volumesAnnotation}: recreate to give that up`
    : `delete it, or annotate it with ${clustersAnnotation}`;

interface Along {
  wish: Wish | undefined;
  /** Where a workload that needs it is, or is to be. */
  along: ReadonlySet<string>;
  held: readonly string[];
  awaited: readonly string[];
  uncopied: readonly string[];
  isUsed: boolean;
}

/** A cluster that is being removed is no place for what does nothing there by itself: nothing is lost, and it holds up nothing. */
function clustersFor({ clusters, input }: Scene, { kind }: PlacedObject) {
  const notTaken = input.notTaken ?? new Map<string, string>();
  const isGoing = ({ metadata }: PhysicalCluster) => metadata.deletionTimestamp !== undefined;
  const going = kind.passive ? [...clusters].filter(([, cluster]) => isGoing(cluster)) : [];
  if (going.length === 0) return { clusters, notTaken };
  return {
    clusters: new Map([...clusters].filter(([, cluster]) => !isGoing(cluster))),
    notTaken: new Map([...notTaken, ...going.map(([name]) => [name, 'it is being removed'] as const)]),
  };
}

function chooseAlong(
  scene: Scene,
  placed: PlacedObject,
  { wish, along, held, awaited, uncopied, isUsed }: Along,
): Choice {
  const current = currentOf(placementOf(scene, placed), placed.object);
  const situation: Situation = {
    ...clustersFor(scene, placed),
    used: new Map(),
    current,
    claims: new Map(),
    now: scene.input.now,
    pods: 1,
    divided: placed.kind.spread,
    need: () => nothingUsed,
  };
  const named = wish && chooseAll(wish, situation);
  // Where its own wish cannot be met it stays only for want of any other place.
  const own = named && !(named.blocked && along.size > 0) ? named.clusters : [];
  const reasons = new Map(Object.entries(named?.reasons ?? {}));
  const unmoved = held.filter((c) => !own.includes(c));
  for (const cluster of unmoved) reasons.set(cluster, `${holdsOwnData}; ${wayOut(isUsed)}`);
  for (const cluster of awaited) reasons.set(cluster, uncopied.includes(cluster) ? isUncopied : isAwaited);
  for (const cluster of along) reasons.set(cluster, 'a workload that needs it is there');
  return {
    clusters: parseClusters(formatClusters([...own, ...along, ...awaited, ...unmoved])),
    reasons: Object.fromEntries(reasons),
    ...(awaited.length > 0 && { lookAgain: true }),
    blocked: named?.blocked === true || unmoved.some((c) => !along.has(c) && isDrivenAway(scene, c)),
    ...(named?.wanted && { wanted: named.wanted }),
  };
}
