import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { leadsToSome, onlyNames, servicesBehind } from '../cluster/closure.ts';
import { isPaused } from '../cluster/drain.ts';
import { groupOf } from '../cluster/group.ts';
import { kindNamed, placedKind } from '../cluster/kinds.ts';
import { isForgotten } from '../cluster/life.ts';
import { adoptedBy } from '../cluster/placeable.ts';
import { placementName } from '../cluster/placement.ts';
import { isReadable } from '../cluster/readable.ts';
import type { Placement } from '../cluster/types.ts';
import { claimsCopiedWhole } from '../cluster/volume-copy.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { lateAddresses, lateMembers, lateOwner, type Member } from './group.ts';
import type { HandoverInput } from './handover.ts';
import type { Hold, Late } from './hold.ts';
import { namespaceKey } from './keys.ts';
import { isShortOf, podsLedTo, servedAt, servedAtAny } from './led.ts';
import { breaksFirst } from './plan.ts';
import type { Unled } from './settle.ts';
import { goingFrom, type Manner, mannerOf, reaching, withWithdrawn } from './traffic.ts';
import type { Witness } from './trust.ts';
import type { Withdrawal } from './withdraw.ts';
import {
  byNamespace,
  clusterNamed,
  endpointsAt,
  followedAt,
  hasOwnVolume,
  rootOf,
  type World,
} from './world.ts';

const pods = { group: '', resource: 'pods' };
const services = { group: '', resource: 'services' };
const endpointSlices = { group: 'discovery.k8s.io', resource: 'endpointslices' };

/** What the world beside an object has to say of its hand-over. */
export interface Beside {
  manner?: Manner | undefined;
  awaited?: Hold['awaited'];
  isForgotten?: Hold['isForgotten'];
  isBlind?: HandoverInput['isBlind'];
  isOpen?: Withdrawal['isOpen'];
  isClosed?: Witness['isClosed'];
  isUnled?: Unled['isUnled'];
  behind?: Placement[] | undefined;
  /** Of a Service of a single pod, or an Ingress before none but such: whether that is there. */
  isServed?: ((cluster: string) => boolean) | undefined;
}

export function besideOf(
  world: World,
  key: string,
  placement: Placement,
  root: KubeObject,
  drainMs: number,
): Beside {
  if (reaching.has(root.kind)) return { behind: behindAt(world, key), isServed: servedBy(world, key, root) };
  if (kindNamed(root.kind)?.role !== 'workload') return {};
  const namespace = world.namespaces.get(namespaceKey(key));
  return {
    manner: mannerOf(root, placement, namespace, drainMs),
    awaited: awaitedAt(world, placement, root),
    isForgotten: (cluster) => isForgottenAt(world, cluster),
    isBlind: (cluster) => !isReadable(clusterNamed(world, cluster), pods),
    isOpen: (cluster) => isOpenAt(world, placement, cluster),
    isClosed: (cluster) => isClosedAt(world, placement, cluster),
    isUnled: (cluster) => isUnledAt(world, placement, cluster),
  };
}

function isForgottenAt(world: World, cluster: string): boolean {
  const found = clusterNamed(world, cluster);
  return found !== undefined && isForgotten(found);
}

/** What leads to a Service's or an Ingress's pods; what one of them has adopted comes and goes as that one does. */
function behindAt(world: World, key: string): Placement[] {
  const all = reachedAt(world, key);
  const uids = new Set(all.map(({ root }) => root.metadata.uid));
  return all.flatMap(({ root, placement }) => (uids.has(adoptedBy(root)?.uid) ? [] : [placement]));
}

/** See Beside. An Ingress leads where the Services behind it do that lead to somebody. */
function servedBy(world: World, key: string, root: KubeObject): Beside['isServed'] {
  if (root.kind !== 'Ingress') return servedAt(root, reachedAt(world, key));
  const { cluster, namespace } = parseKey(key);
  const behind = servicesBehind(root).flatMap((name) => {
    const at = keyOf(cluster, namespace, placementName({ ...services, name }));
    const spec = world.placements.get(at)?.spec;
    const [service, reached] = [spec && rootOf(world, at, spec), reachedAt(world, at)];
    return service && reached.length > 0 ? [servedAt(service, reached)] : [];
  });
  return servedAtAny(behind);
}

/** Whose pods are reached so. A StatefulSet whose pods are only named after a Service that selects others is none. */
function reachedAt(world: World, key: string): { root: KubeObject; placement: Placement }[] {
  const spec = world.placements.get(key)?.spec;
  const service = spec?.ref.kind === 'Service' ? rootOf(world, key, spec) : undefined;
  return followedAt(world, key).filter(({ root }) => !service || !onlyNames(service, root));
}

/** Whom a workload waits for before it leaves a cluster. */
function awaitedAt(world: World, placement: Placement, root: KubeObject): (cluster: string) => Late[] {
  const key = namespaceKey(objectKey(placement));
  const namespace = world.namespaces.get(key);
  const isHalted = namespace !== undefined && isPaused(namespace);
  const member = (of: Placement, object: KubeObject): Member => {
    const takesVolumes = claimsCopiedWhole(object, of.spec?.copies).length > 0;
    const once = breaksFirst(object, { hasOwnVolume: hasOwnVolume(world, of), takesVolumes });
    return { root: object, placement: of, once, paused: isHalted || isPaused(object) };
  };
  const group = groupOf(root, namespace);
  const others = () =>
    world.placements.byIndex(byNamespace, key).flatMap((other) => {
      const object = other.spec && rootOf(world, objectKey(other), other.spec);
      // What was adopted goes after its owner.
      if (!object || object.metadata.uid === root.metadata.uid || adoptedBy(object)) return [];
      return groupOf(object, namespace) === group ? [member(other, object)] : [];
    });
  const owner = adoptedBy(root);
  if (owner) return (cluster) => lateOwner(cluster, ownerAt(world, placement, owner));
  return (cluster) => [
    ...(group === undefined ? [] : lateMembers(cluster, member(placement, root), others())),
    ...lateAddresses(cluster, placement.spec?.clusters ?? [], before(world, placement)),
  ];
}

function ownerAt({ placements: all }: World, placement: Placement, owner: OwnerReference) {
  const kind = kindNamed(owner.kind);
  const { cluster, namespace } = parseKey(objectKey(placement));
  const found = kind && all.get(keyOf(cluster, namespace, placementName({ ...kind, name: owner.name })));
  return found?.spec?.ref.uid === owner.uid ? found : undefined;
}

/** A Service is to be withdrawn there as this leaves, and its cluster has not said that it is. */
function isOpenAt(world: World, placement: Placement, cluster: string): boolean {
  const { uid } = placement.metadata;
  return before(world, placement).some((service) => {
    const { ref, shares } = service.spec ?? {};
    const [share, slice] = [shares?.[cluster], service.status?.clusters?.[cluster]];
    if (ref?.kind !== 'Service' || !share || slice?.present !== true) return false;
    const behind = behindAt(world, objectKey(service)).map((each) =>
      each.metadata.uid === uid ? goingFrom(cluster, each) : each,
    );
    const isToBe = withWithdrawn({ [cluster]: share }, behind)[cluster]?.withdrawn === true;
    return isToBe && slice.share?.withdrawn !== true;
  });
}

/** A Service is, or is to be, withdrawn there. */
function isClosedAt(world: World, placement: Placement, cluster: string): boolean {
  return before(world, placement).some(({ spec, status }) => {
    const [share, slice] = [spec?.shares?.[cluster], status?.clusters?.[cluster]];
    if (spec?.ref.kind !== 'Service' || !share || slice?.present !== true) return false;
    return share.withdrawn === true || slice.share?.withdrawn === true;
  });
}

/**
 * A Service there leads to fewer pods than are ready of all that it selects; of one that selects single pods that is not asked. Where its endpoints may not be read nobody will ever know; that
 * nobody answers of them passes.
 */
function isUnledAt(world: World, placement: Placement, cluster: string): boolean {
  if (!isReadable(clusterNamed(world, cluster), endpointSlices, 'Unanswered')) return false;
  return before(world, placement).some((service) => {
    const { spec, status } = service;
    if (spec?.ref.kind !== 'Service' || status?.clusters?.[cluster]?.present !== true) return false;
    const key = objectKey(service);
    const [root, reached] = [rootOf(world, key, spec), reachedAt(world, key)];
    if (root && reached.some((each) => leadsToSome(root, each.root))) return false;
    return isShortOf(podsLedTo(reached, cluster), endpointsAt(world, key), cluster);
  });
}

/** The Placements of the Services and Ingresses through which a workload is reached. */
function before({ placements: all }: World, placement: Placement): Placement[] {
  const { cluster, namespace } = parseKey(objectKey(placement));
  return (placement.spec?.requires ?? []).flatMap((ref) => {
    const isReaching = reaching.has(placedKind(ref)?.kind ?? '');
    return (isReaching && all.get(keyOf(cluster, namespace, placementName(ref)))) || [];
  });
}
