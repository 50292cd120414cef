import { type NamespaceIndex, type PlacedObject, placedKey } from '../cluster/closure.ts';
import { isEnding } from '../cluster/deletion.ts';
import { isTombstone } from '../cluster/orphans.ts';
import { isOfCustom, isPlaceable } from '../cluster/placeable.ts';
import { parseClusters } from '../cluster/placement.ts';
import type { Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Fleet } from './fleet.ts';
import type { NamespaceInput } from './types.ts';
import { schedulersNote } from './wishes.ts';

/** One namespace, as it is decided about. */
export interface Scene {
  input: NamespaceInput;
  index: NamespaceIndex;
  records: ReadonlyMap<string, Placement>;
  fleet: Fleet;
  /** Those that are named. */
  clusters: Fleet['named'];
  /** See listenedSince in scheduler/tolerations.ts. */
  listened: number;
}

/** The Placement that is about this very object, not about a former one of its name; or one that it takes over. */
export function placementOf({ records }: Scene, placed: PlacedObject): Placement | undefined {
  const found = records.get(placedKey(placed));
  if (!found || isTombstone(found)) return found;
  return found.spec?.ref.uid === placed.object.metadata.uid ? found : undefined;
}

/** What is being deleted goes on where it is while it is kept, and begins nowhere. */
export function isLive(scene: Scene, placed: PlacedObject): boolean {
  const { kind, object } = placed;
  if (isEnding(object) || !isPlaceable(kind, object) || isOfCustom(kind, object)) return false;
  return object.metadata.deletionTimestamp === undefined || placementOf(scene, placed) !== undefined;
}

/** As a kubelet says it of a pod whose containers are gone: it was given its time, and nothing is left of it. */
export function hasStopped(scene: Scene, placed: PlacedObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = placed.object.metadata;
  if (placed.kind.resource !== 'pods' || deletionTimestamp === undefined || deletionGracePeriodSeconds === 0)
    return false;
  if (!isPlaceable(placed.kind, placed.object)) return false;
  const shares = scene.records.get(placedKey(placed))?.spec?.shares ?? {};
  return Object.keys(shares).length === 0;
}

export function currentOf(placement: Placement | undefined, object: KubeObject): string[] {
  const { clusters = [], shares = {} } = placement?.spec ?? {};
  if (clusters.length > 0) return clusters;
  const left = placement !== undefined && isTombstone(placement);
  const there = Object.entries(shares).flatMap(([c, s]) => (s.phase === 'Leaving' && !left ? [] : [c]));
  return there.length > 0 ? there.sort() : parseClusters(schedulersNote(object));
}
