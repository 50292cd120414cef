import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { drainSeconds, isPaused } from '../cluster/drain.ts';
import { heardAt } from '../cluster/heard.ts';
import { isForgotten, isGivenUp } from '../cluster/life.ts';
import { placementName } from '../cluster/placement.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import type { WorkQueue } from '../controller/queue.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { reaching } from './traffic.ts';
import {
  byNamespace,
  byQuestion,
  byShare,
  byWaiting,
  followersOf,
  namespaceKey,
  placementOfTarget,
  type World,
} from './world.ts';

/** A Placement, the object it is about, or the physical clusters it is on have changed. */
export function wake(world: World, queue: WorkQueue): void {
  const followers = (placement: Placement) => {
    for (const key of followersOf(placement)) if (world.placements.get(key)) queue.add(key);
  };
  const waiting = (key: string) => {
    for (const other of world.placements.byIndex(byWaiting, namespaceKey(key))) queue.add(objectKey(other));
  };
  world.placements.on({
    add: (placement, key) => {
      queue.add(key);
      followers(placement);
    },
    update: (placement, old, key) => {
      queue.add(key);
      const isOther = !deepEqual(placement.spec, old.spec);
      if (isOther) followers(placement);
      if (isOther || reaching.has(placement.spec?.ref.kind ?? '')) waiting(key);
    },
    delete: (placement, key) => {
      followers(placement);
      waiting(key);
    },
  });
  for (const [kind, informer] of world.roots) {
    const about = (object: KubeObject) => {
      const { cluster, namespace, name } = parseKey(objectKey(object));
      const key = keyOf(cluster, namespace, placementName({ ...kind, name }));
      if (world.placements.get(key)) queue.add(key);
      if (kind.role === 'workload') waiting(key);
    };
    informer.on({ add: about, update: about, delete: about });
  }
  const inNamespace = (namespace: KubeObject, old?: KubeObject) => {
    if (old && saysSame(namespace, old)) return;
    for (const placement of world.placements.byIndex(byNamespace, objectKey(namespace)))
      queue.add(objectKey(placement));
  };
  world.namespaces.on({ update: inNamespace });
  const scaled = (autoscaler: KubeObject) => {
    for (const key of placementOfTarget(autoscaler) ?? []) if (world.placements.get(key)) queue.add(key);
  };
  world.scalers.on({
    add: scaled,
    update(now, old) {
      scaled(now);
      scaled(old);
    },
    delete: scaled,
  });
  const concerned = (cluster: PhysicalCluster, index: string) => {
    for (const placement of world.placements.byIndex(index, cluster.metadata.name ?? '')) {
      queue.add(objectKey(placement));
    }
  };
  const sharing = (cluster: PhysicalCluster) => concerned(cluster, byShare);
  world.clusters.on({
    add: sharing,
    update(cluster, old) {
      const [now, before] = [heardAt(cluster), heardAt(old)];
      if ((now === undefined) !== (before === undefined) || !isSameLife(cluster, old)) sharing(cluster);
      else if (now !== before) concerned(cluster, byQuestion);
    },
    delete: sharing,
  });
}

/** Of how what is in it is handed over. */
function saysSame(now: KubeObject, old: KubeObject): boolean {
  return isPaused(now) === isPaused(old) && drainSeconds(now) === drainSeconds(old);
}

function isSameLife(now: PhysicalCluster, old: PhysicalCluster): boolean {
  return isForgotten(now) === isForgotten(old) && isGivenUp(now) === isGivenUp(old);
}
