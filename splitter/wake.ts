import type { Informer } from '../client/informer.ts';
import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { drainSeconds, isPaused, waitSeconds } from '../cluster/drain.ts';
import { heardAt } from '../cluster/heard.ts';
import { isFinished } from '../cluster/kinds.ts';
import { conditionOf, isForgotten, isGivenUp, keepsEnded } from '../cluster/life.ts';
import { placementName } from '../cluster/placement.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import type { VolumeCopy } from '../cluster/volume-copy.ts';
import type { WorkQueue } from '../controller/queue.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Beginnings } from './begin.ts';
import { copying } from './copy-words.ts';
import { type Rush, wordMs } from './first-words.ts';
import { followsMs, isOfStatus, isPlacing, lookAfter } from './foreseen.ts';
import { followingOf, leadingTo, namespaceKey, placementOfCopy, placementOfTarget } from './keys.ts';
import { isGoing, reaching } from './traffic.ts';
import { wasHeard } from './trust.ts';
import { wakeForServices } from './wake-services.ts';
import {
  byNamespace,
  byQuestion,
  byShare,
  byWaiting,
  clusterNamed,
  followedAt,
  rootOf,
  type World,
} from './world.ts';

const mostWakingMs = 2000;

/** What the splitter has said itself, or is about to. */
export interface Own {
  /** By the key of a Placement, the status that its root is being given. */
  writing: ReadonlyMap<string, unknown>;
  beginnings: Pick<Beginnings, 'isForeseen'>;
  rush?: Rush;
}

/** All that a Placement hangs on. */
export function wake(world: World, queue: WorkQueue, own: Own): void {
  wakeHandover(world, queue, own);
  wakeNamespaces(world, queue);
  wakeScaled(world, queue);
  wakeSharing(world, queue);
  wakeForServices(world, queue);
  const copied = (copy: VolumeCopy) => {
    for (const key of placementOfCopy(copy) ?? []) if (world.placements.get(key)) queue.add(key);
  };
  // One of another workload may be in the way of what waits, or no longer.
  const comes = (copy: VolumeCopy) => {
    copied(copy);
    for (const placement of world.placements.byIndex(byNamespace, namespaceKey(objectKey(copy))))
      if (isCopying(placement)) queue.add(objectKey(placement));
  };
  const changes = (copy: VolumeCopy, old: VolumeCopy) =>
    copy.status?.phase === old.status?.phase ? copied(copy) : comes(copy);
  world.copies.on({ add: comes, update: changes, delete: comes });
}

/** A Placement, or the object it is about, has changed. */
function wakeHandover(world: World, queue: WorkQueue, { writing, beginnings, rush }: Own): void {
  const addAll = (keys: readonly string[]) => {
    for (const key of keys) if (world.placements.get(key)) queue.add(key);
  };
  const followers = (placement: Placement) => addAll([...followingOf(placement), ...leadingTo(placement)]);
  const waiting = (key: string, isNews: () => boolean = () => true) => {
    const all = world.placements.byIndex(byWaiting, namespaceKey(key));
    if (all.length === 0 || !isNews()) return;
    // Each looks at all the others: the more they are, the seldomer.
    const soon = Math.min(mostWakingMs, all.length ** 2 / 100);
    for (const other of all) queue.addAfter(objectKey(other), soon);
  };
  world.placements.on({
    add: (placement, key) => {
      const root = placement.spec && rootOf(world, key, placement.spec);
      queue.addAfter(key, beginnings.isForeseen(key, placement, root) ? wordMs(rush) : 0);
      followers(placement);
    },
    update: (placement, old, key) => {
      const root = placement.spec && rootOf(world, key, placement.spec);
      const after = beginnings.isForeseen(key, placement, root)
        ? wordMs(rush)
        : lookAfter(placement, old, { rush, heardAt: (name) => heardAt(clusterNamed(world, name)) });
      if (after !== undefined) queue.addAfter(key, after);
      const isOther = !deepEqual(placement.spec, old.spec);
      if (isOther) {
        // Also those that it needs no more: what has ended wants nothing of a quota.
        addAll([...followingOf(placement), ...followingOf(old)]);
        if (!isSameTraffic(placement, old)) addAll(leadingTo(placement));
      }
      if (!deepEqual(placement.status?.clusters, old.status?.clusters))
        addAll(targetOfPlaced(world, placement));
      if (!isSameWithdrawal(placement, old))
        addAll(followedAt(world, key).map((found) => objectKey(found.placement)));
      waiting(key, () => isOther || reaching.has(placement.spec?.ref.kind ?? ''));
    },
    delete: (placement, key) => {
      followers(placement);
      waiting(key);
    },
  });
  const follow = (kind: { group: string; resource: string; role: string }, informer: Informer) => {
    const about = (object: KubeObject, old?: KubeObject | string) => {
      const { cluster, namespace, name } = parseKey(objectKey(object));
      const key = keyOf(cluster, namespace, placementName({ ...kind, name }));
      const isOwn = typeof old === 'object' && isOfStatus(object, old);
      // The splitter alone is to write it. Of a Deployment nothing is decided by it; what ends is seen by it to have ended.
      const isSeen = isOwn && object.kind === 'Deployment' && deepEqual(object.status, writing.get(key));
      const isPlaced = typeof old === 'object' && isPlacing(object, old);
      const soon = isPlaced ? wordMs(rush) : isOwn ? followsMs : 0;
      if (world.placements.get(key) && !isSeen) queue.addAfter(key, soon);
      if (kind.role === 'workload') waiting(key, () => typeof old !== 'object' || !isSameMember(object, old));
    };
    informer.on({ add: about, update: about, delete: about });
  };
  for (const [kind, informer] of world.roots) follow(kind, informer);
  world.ruled.on((informer, resource) => follow({ ...resource, role: 'workload' }, informer));
}

function wakeNamespaces(world: World, queue: WorkQueue): void {
  const inNamespace = (namespace: KubeObject, old?: KubeObject) => {
    if (old && saysSame(namespace, old)) return;
    for (const placement of world.placements.byIndex(byNamespace, objectKey(namespace)))
      queue.add(objectKey(placement));
  };
  world.namespaces.on({ update: inNamespace });
}

/** What an autoscaler scales, or scaled before. */
function wakeScaled(world: World, queue: WorkQueue): void {
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
}

/** The physical clusters that a Placement is on have changed. */
function wakeSharing(world: World, queue: WorkQueue): void {
  const hasEnded = (placement: Placement) => {
    const root = placement.spec && rootOf(world, objectKey(placement), placement.spec);
    return root !== undefined && isFinished(root);
  };
  const concerned = (
    { metadata: { name = '' } }: PhysicalCluster,
    index: string,
    isMeant: (placement: Placement) => boolean = () => true,
  ) => {
    for (const placement of world.placements.byIndex(index, name))
      if (isMeant(placement)) queue.add(objectKey(placement));
  };
  const sharing = (cluster: PhysicalCluster) => concerned(cluster, byShare);
  world.clusters.on({
    add: sharing,
    update(cluster, old) {
      const [now, before] = [heardAt(cluster), heardAt(old)];
      if ((now === undefined) !== (before === undefined) || !isSameLife(cluster, old)) {
        sharing(cluster);
        return;
      }
      // Whoever says where it is to be may have known of the drain before.
      if (keepsEnded(cluster) !== keepsEnded(old)) concerned(cluster, byShare, hasEnded);
      const { name = '' } = cluster.metadata;
      const isAnswered = (at: number | undefined, { spec }: Placement) => {
        const share = spec?.shares?.[name];
        return share !== undefined && wasHeard({ heardAt: () => at }, name, share);
      };
      if (now !== before)
        concerned(cluster, byQuestion, (of) => isAnswered(now, of) && !isAnswered(before, of));
    },
    delete: sharing,
  });
}

/** Of an autoscaler's Placement, that of its target: it may wait for what the autoscaler is told. */
function targetOfPlaced(world: World, placement: Placement): string[] {
  const { spec } = placement;
  if (spec?.ref.kind !== 'HorizontalPodAutoscaler') return [];
  const autoscaler = rootOf(world, objectKey(placement), spec);
  return (autoscaler && placementOfTarget(autoscaler)) ?? [];
}

/** To what leads to it: where it is counted on, where it is not yet, and where it goes. */
function isSameTraffic(now: Placement, old: Placement): boolean {
  const requires = deepEqual(now.spec?.requires, old.spec?.requires);
  return requires && deepEqual(trafficOf(now), trafficOf(old));
}

/** Of what has ordinals also which are where: a Service may lead to one of them alone. */
function trafficOf({ spec }: Placement): object {
  const shares = Object.entries(spec?.shares ?? {});
  const hasOrdinals = spec?.ref.kind === 'StatefulSet';
  return shares.map(([c, share]) => [
    c,
    isGoing(share) ? 'Leaving' : share.phase,
    ...(hasOrdinals ? [share.ordinalsStart, share.replicas] : []),
  ]);
}

/** Of a Service, to what is behind it: where it is to be withdrawn, and where its cluster says that it is. */
function isSameWithdrawal(now: Placement, old: Placement): boolean {
  if (now.spec?.ref.kind !== 'Service') return true;
  const of = ({ spec, status }: Placement) => [
    Object.entries(spec?.shares ?? {}).map(([c, { withdrawn }]) => [c, withdrawn]),
    Object.entries(status?.clusters ?? {}).map(([c, { present, share }]) => [c, present, share?.withdrawn]),
  ];
  return deepEqual(of(now), of(old));
}

/** To those that wait for it: whom it belongs to, and how much of it is to be there. */
function isSameMember({ metadata: now, spec }: KubeObject, old: KubeObject): boolean {
  const of = ({ labels, annotations, deletionTimestamp }: KubeObject['metadata']) => [
    labels,
    annotations,
    deletionTimestamp,
  ];
  return deepEqual(spec, old.spec) && deepEqual(of(now), of(old.metadata));
}

/** Of how what is in it is handed over. */
function saysSame(now: KubeObject, old: KubeObject): boolean {
  const said = (namespace: KubeObject) => [isPaused, drainSeconds, waitSeconds].map((of) => of(namespace));
  return deepEqual(said(now), said(old));
}

function isSameLife(now: PhysicalCluster, old: PhysicalCluster): boolean {
  const unread = (of: PhysicalCluster) => conditionOf(of, 'Readable')?.message;
  if (unread(now) !== unread(old) || now.spec?.copier !== old.spec?.copier) return false;
  return isForgotten(now) === isForgotten(old) && isGivenUp(now) === isGivenUp(old);
}

function isCopying({ status }: Placement): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Settled' && reason === copying) === true;
}
