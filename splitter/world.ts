import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { physicalClusterInformer } from '../client/physical-clusters.ts';
import { keyOf, objectKey, parseKey } from '../client/url.ts';
import { askedSince } from '../cluster/heard.ts';
import { type PlacedKind, placedKind, placedKinds } from '../cluster/kinds.ts';
import { placements, rootCluster, volumeCopies } from '../cluster/names.ts';
import { adoptedBy, scalesHere } from '../cluster/placeable.ts';
import { placementName } from '../cluster/placement.ts';
import type { ClosureRef, ObjectRef, PhysicalCluster, Placement, PlacementSpec } from '../cluster/types.ts';
import { byClaim, copierBetween, isCopyOf, type VolumeCopy } from '../cluster/volume-copy.ts';
import { RuledKinds, shownAs } from '../controller/ruled.ts';
import { limitsOf } from '../kube/limit-range.ts';
import type { KubeObject } from '../kube/object.ts';
import { listAt } from '../kube/untyped.ts';
import { type Scaler, type ScaleTarget, scalerOf, scaleTarget, targetOf } from './autoscaler.ts';
import type { Copying } from './copies.ts';
import { type Covered, coveredBy } from './disruption.ts';
import { waitingReason } from './hold.ts';
import {
  autoscalers,
  followersOf,
  namespaceKey,
  placementOfCopy,
  placementOfTarget,
  serviceOf,
} from './keys.ts';
import { readyEndpoints } from './led.ts';
import { type ToldAt, toldOf } from './lower.ts';
import { type Demand, demandOf } from './quota.ts';

/** All that the splitter sees. */
export interface World {
  placements: Informer<Placement>;
  clusters: Informer<PhysicalCluster>;
  roots: ReadonlyMap<PlacedKind, Informer>;
  /** Custom resources that are placed by a rule. */
  ruled: RuledKinds;
  scalers: Informer;
  copies: Informer<VolumeCopy>;
  namespaces: Informer;
}

const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const;
/** Placements, by the key of their Namespace. */
export const byNamespace = 'splitter/namespace';
/** Of them, those that wait for others there. */
export const byWaiting = 'splitter/waiting';
/** Placements, by physical cluster that has a share. */
export const byShare = 'splitter/share';
/** Placements, by physical cluster of which a word is waited for. */
export const byQuestion = 'splitter/question';
/** Placements, by the keys of those that follow theirs. */
const byFollower = 'splitter/follower';
/** EndpointSlices that clusters have told of, by the key of the Placement of their Service. */
const byService = 'splitter/service';
/** Autoscalers, by the key of the Placement of what they scale. */
const byTarget = 'splitter/target';
/** VolumeCopies, by the key of the Placement of what waits for them. */
const byWorkload = 'splitter/workload';
/** VolumeCopies, by the key of their Namespace. */
const byHome = 'splitter/home';

export function observe(informers: InformerSet): World {
  const observed = informers.for<Placement>(placements);
  observed.addIndex(byFollower, followersOf);
  observed.addIndex(byNamespace, (placement) => [namespaceKey(objectKey(placement))]);
  observed.addIndex(byWaiting, (placement) =>
    placement.status?.conditions?.some(({ reason }) => reason === waitingReason)
      ? [namespaceKey(objectKey(placement))]
      : [],
  );
  observed.addIndex(byShare, (placement) => Object.keys(placement.spec?.shares ?? {}));
  observed.addIndex(byQuestion, ({ spec }) =>
    Object.entries(spec?.shares ?? {}).flatMap(([c, share]) => (askedSince(share) === undefined ? [] : [c])),
  );
  const roots = new Map(placedKinds.map((kind) => [kind, informers.for(kind)]));
  endpointsIn(roots)?.addIndex(byService, (slice) => serviceOf(slice) ?? []);
  const scalers = informers.for(autoscalers);
  scalers.addIndex(byTarget, (autoscaler) => placementOfTarget(autoscaler) ?? []);
  const copies = informers.for<VolumeCopy>(volumeCopies);
  copies.addIndex(byWorkload, (copy) => placementOfCopy(copy) ?? []);
  copies.addIndex(byHome, (copy) => [namespaceKey(objectKey(copy))]);
  return {
    placements: observed,
    copies,
    clusters: physicalClusterInformer(informers),
    roots,
    ruled: new RuledKinds(informers, observed),
    scalers,
    namespaces: informers.for(namespaces),
  };
}

export function endpointsIn(roots: World['roots']): Informer | undefined {
  return [...roots].find(([{ kind }]) => kind === 'EndpointSlice')?.[1];
}

/** Of the Service of this Placement's key, by cluster: how many ready endpoints are told of. */
export function endpointsAt({ roots }: World, key: string): Map<string, number> {
  return readyEndpoints(endpointsIn(roots)?.byIndex(byService, key) ?? []);
}

/** The root that a Placement is about, as the cache has it. */
export function rootOf(world: World, key: string, { ref }: PlacementSpec): KubeObject | undefined {
  return objectOf(world, key, ref);
}

/** What is called so in the namespace of this key. By a rule: as whoever decides sees it. */
function objectOf({ roots, ruled }: World, key: string, ref: ClosureRef | ObjectRef): KubeObject | undefined {
  const { cluster, namespace } = parseKey(key);
  const name = keyOf(cluster, namespace, ref.name);
  if ('rule' in ref && ref.rule) {
    if (!ruled.isDefined(ref, cluster)) return undefined;
    const object = ruled.of(ref)?.get(name);
    return object && shownAs(object, ref);
  }
  const kind = placedKind(ref);
  return kind && roots.get(kind)?.get(name);
}

/** False while nobody knows whether the root is there. Where its Namespace goes it goes too. */
export function isKnown(world: World, key: string, { ref }: PlacementSpec): boolean {
  const { cluster } = parseKey(key);
  if (!ref.rule || world.ruled.isKnown(ref, cluster)) return true;
  return world.namespaces.get(namespaceKey(key))?.metadata.deletionTimestamp !== undefined;
}

export function clusterNamed({ clusters }: World, name: string): PhysicalCluster | undefined {
  return clusters.get(keyOf(rootCluster, '', name));
}

/**
 * What scales the workload of this Placement. Of several, which Kubernetes itself stops, the first by name. A ReplicaSet that a
 * Deployment has adopted is scaled by that one's controller, on each cluster.
 */
export function scalerAt(world: World, key: string, root: KubeObject | undefined): Scaler | undefined {
  if (root && adoptedBy(root)) return { min: 0, max: Number.MAX_SAFE_INTEGER };
  const first = autoscalerOf(world, key);
  return first && scalerOf(first);
}

/** Of what scales it: what each cluster was told last. */
export function toldAt(world: World, key: string): ToldAt | undefined {
  const { cluster, namespace } = parseKey(key);
  const name = autoscalerOf(world, key)?.metadata.name;
  if (name === undefined) return undefined;
  const found = world.placements.get(keyOf(cluster, namespace, placementName({ ...autoscalers, name })));
  return found && toldOf(found);
}

function autoscalerOf({ scalers }: World, key: string): KubeObject | undefined {
  const found = scalers
    .byIndex(byTarget, key)
    .filter((a) => a.metadata.deletionTimestamp === undefined && !scalesHere(a));
  const [first] = found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return first;
}

export function targetAt(
  { placements: all, roots }: World,
  key: string,
  root: KubeObject,
): ScaleTarget | undefined {
  const ref = root.kind === 'HorizontalPodAutoscaler' ? targetOf(root) : undefined;
  if (!ref) return undefined;
  const { cluster, namespace } = parseKey(key);
  const workload = roots.get(ref.kind)?.get(keyOf(cluster, namespace, ref.name));
  const placement = all.get(keyOf(cluster, namespace, placementName({ ...ref.kind, name: ref.name })));
  return workload && placement && scaleTarget(workload, placement);
}

/** Every workload that the budget of this Placement covers, of which there is a Placement. */
export function coveredAt(world: World, key: string, root: KubeObject): Covered | undefined {
  return root.kind === 'PodDisruptionBudget' ? coveredBy(root, followedAt(world, key)) : undefined;
}

/** What the workloads in the namespace of this Placement's quota ask for. */
export function demandsAt(world: World, key: string, root: KubeObject): Demand[] | undefined {
  if (root.kind !== 'ResourceQuota') return undefined;
  const ranges = world.placements.byIndex(byNamespace, namespaceKey(key)).flatMap(({ spec }) => {
    const range = spec?.ref.resource === 'limitranges' ? objectOf(world, key, spec.ref) : undefined;
    return range ? [limitsOf(range)] : [];
  });
  return followedAt(world, key).map(({ root: workload, placement }) => demandOf(workload, placement, ranges));
}

export function followedAt(world: World, key: string): { root: KubeObject; placement: Placement }[] {
  return world.placements.byIndex(byFollower, key).flatMap((placement) => {
    const ref = placement.spec?.ref;
    const workload = ref && objectOf(world, key, ref);
    return workload ? [{ root: workload, placement }] : [];
  });
}

/** A claim of it that one node, or one pod, may use at a time. */
export function hasOwnVolume({ roots }: World, placement: Placement): boolean {
  const { cluster, namespace } = parseKey(objectKey(placement));
  return (placement.spec?.requires ?? []).some((ref) => {
    const kind = placedKind(ref);
    if (kind?.kind !== 'PersistentVolumeClaim') return false;
    const modes = listAt(roots.get(kind)?.get(keyOf(cluster, namespace, ref.name)), 'spec', 'accessModes');
    return modes.length > 0 && modes.every((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
  });
}

/** What of its data comes along, and what copiers say of it; undefined: nothing ever did. */
export function copyingAt(world: World, key: string, { spec }: Placement): Copying | undefined {
  const found = world.copies.byIndex(byWorkload, key).filter((copy) => isCopyOf(copy, spec?.ref.uid));
  if (!spec?.copies && found.length === 0) return undefined;
  const all = spec?.copies ? world.copies.byIndex(byHome, namespaceKey(key)) : [];
  return {
    copies: spec?.copies,
    found: byClaim(found),
    others: byClaim(all.filter((copy) => !isCopyOf(copy, spec?.ref.uid))),
    isLeft: (copy) => isLeft(world, copy),
    copierBetween: (from, to) => copierBetween(clusterNamed(world, from), clusterNamed(world, to)),
  };
}

function isLeft({ placements: all }: World, copy: VolumeCopy): boolean {
  const { phase } = copy.status ?? {};
  if (phase === 'Copied' || phase === 'Failed') return true;
  return !placementOfCopy(copy)?.some((key) => isCopyOf(copy, all.get(key)?.spec?.ref.uid));
}
