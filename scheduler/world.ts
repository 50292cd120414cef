import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { physicalClusterInformer } from '../client/physical-clusters.ts';
import { keyOf, logicalClusterOf } from '../client/url.ts';
import { identifyingNamespace } from '../cluster/identity.ts';
import { type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { placements, rootCluster, volumeCopies } from '../cluster/names.ts';
import { clusterPlacementPolicies, type PlacementPolicy, placementPolicies } from '../cluster/policy.ts';
import { isReflected } from '../cluster/reflected.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import type { VolumeCopy } from '../cluster/volume-copy.ts';
import { RuledKinds } from '../controller/ruled.ts';
import { groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { followFleet, type Known } from './fleet.ts';
import { Ledger } from './ledger.ts';
import { Mentions } from './mentions.ts';
import { Pace } from './pace.ts';
import { Rounds } from './rounds.ts';
import { isUsedByName } from './scope.ts';
import { Standings } from './standing.ts';
import { Leavers } from './turns.ts';
import { namesClusters } from './wishes.ts';

/** All that the scheduler sees, and what it remembers between two decisions. */
export interface World {
  namespaces: Informer;
  placements: Informer<Placement>;
  clusters: Informer<PhysicalCluster>;
  /** What they are now. */
  known(): Known;
  policies: Informer<PlacementPolicy>;
  clusterPolicies: Informer<PlacementPolicy>;
  objects: ReadonlyMap<PlacedKind, Informer>;
  copies: Informer<VolumeCopy>;
  /** Custom resources that are placed by a rule. */
  ruled: RuledKinds;
  ledger: Ledger;
  /** What it is once all that is on its way has arrived. */
  settled: Ledger;
  pace: Pace;
  leavers: Leavers;
  rounds: Rounds;
  /** False: nobody waits for a turn, and what is decided is how it ends. */
  inTurns: boolean;
  mentioned: Mentions;
  /** Whose next decision need not look at all. */
  standings: Standings;
  /** Namespaces that any cluster that comes, or changes, may concern. */
  open: Set<string>;
  /** When somebody began to decide by it, in milliseconds since 1970; 0: long ago, as far as is known. */
  startedAt: number;
}

export const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const;
export const byNamespace = 'scheduler/namespace';
export const byWish = 'scheduler/wish';
export const byReflection = 'scheduler/reflection';
const byIdentity = 'scheduler/identity';
export const byLogicalCluster = 'scheduler/logical-cluster';
/** Placements, by where they are to be. */
const byCluster = 'scheduler/cluster';
/** Placements, by where they are to be, are asked to be or still are; under `nowhere` what is to be on none. */
const byConcern = 'scheduler/concern';
/** No cluster has that name. */
const nowhere = '';
/** Clusters that drive away what is there, all under one value. */
const byEviction = 'scheduler/eviction';
const evicts = 'evicts';
/** Placements, by logical cluster and custom resource. */
export const byRuled = 'scheduler/ruled';

/** The key of the Namespace that an object is in. */
export function namespaceKey(object: KubeObject): string {
  return keyOf(logicalClusterOf(object), '', object.metadata.namespace ?? '');
}

export function observe(informers: Pick<InformerSet, 'for'>): World {
  const indexed = <T extends KubeObject>(informer: Informer<T>) => {
    informer.addIndex(byNamespace, (object) => [namespaceKey(object)]);
    return informer;
  };
  const objects = new Map(placedKinds.map((kind) => [kind, indexed(informers.for(kind))]));
  for (const [kind, informer] of objects) {
    if (isClaims(kind)) informer.addIndex(byReflection, (o) => (isReflected(o) ? [namespaceKey(o)] : []));
    if (isUsedByName(kind)) informer.addIndex(byWish, (o) => (namesClusters(o) ? [namespaceKey(o)] : []));
  }
  const identified = informers.for(namespaces);
  identified.addIndex(byIdentity, ({ metadata: { name, uid = '' } }) =>
    name === identifyingNamespace ? [uid] : [],
  );
  identified.addIndex(byLogicalCluster, (namespace) => [logicalClusterOf(namespace)]);
  const clusterPolicies = informers.for<PlacementPolicy>(clusterPlacementPolicies);
  clusterPolicies.addIndex(byLogicalCluster, (policy) => [logicalClusterOf(policy)]);
  const placed = indexed(informers.for<Placement>(placements));
  const ruled = new RuledKinds(informers, placed);
  ruled.on((informer) => {
    indexed(informer).addIndex(byLogicalCluster, (object) => [logicalClusterOf(object)]);
  });
  placed.addIndex(byCluster, ({ spec }) => spec?.clusters ?? []);
  placed.addIndex(byConcern, ({ spec }) => {
    const { clusters = [], wanted = [], shares = {} } = spec ?? {};
    const names = new Set([...clusters, ...wanted, ...Object.keys(shares)]);
    return clusters.length === 0 ? [nowhere, ...names] : [...names];
  });
  const clusters = physicalClusterInformer(informers);
  clusters.addIndex(byEviction, ({ spec }) => {
    const isLeft =
      spec?.drain || spec?.rebalance || spec?.taints?.some(({ effect }) => effect === 'NoExecute');
    return isLeft ? [evicts] : [];
  });
  placed.addIndex(byRuled, (placement) => {
    const { ref } = placement.spec ?? {};
    return ref?.rule ? [`${logicalClusterOf(placement)}/${groupResource(ref)}`] : [];
  });
  return {
    namespaces: identified,
    placements: placed,
    copies: indexed(informers.for<VolumeCopy>(volumeCopies)),
    ruled,
    clusters,
    known: followFleet(clusters, identified, (uid) => identified.byIndex(byIdentity, uid).length > 0),
    policies: indexed(informers.for<PlacementPolicy>(placementPolicies)),
    clusterPolicies,
    objects,
    ledger: new Ledger(),
    settled: new Ledger(),
    pace: new Pace(),
    leavers: new Leavers(),
    rounds: new Rounds(),
    inTurns: true,
    mentioned: new Mentions(),
    standings: new Standings(),
    open: new Set(),
    startedAt: 0,
  };
}

export function isClaims({ kind }: PlacedKind): boolean {
  return kind === 'PersistentVolumeClaim';
}

export function clusterNamed({ clusters }: World, name: string): PhysicalCluster | undefined {
  return clusters.get(keyOf(rootCluster, '', name));
}

/** The keys of the Namespaces that have something on it. */
export function keysOn({ placements: all }: World, name: string): Set<string> {
  return new Set(all.byIndex(byCluster, name).map(namespaceKey));
}

/**
 * The keys of the Namespaces that have something on it, or ask for it, or are where they do not want to be: on clusters that drive them
 * away, or on none.
 */
export function keysConcernedBy({ placements: all, clusters }: World, name: string): Set<string> {
  const found = [name, nowhere].flatMap((of) => all.byIndex(byConcern, of));
  const unhappy = clusters.byIndex(byEviction, evicts).flatMap(({ metadata }) => metadata.name ?? []);
  const stuck = unhappy.flatMap((of) => all.byIndex(byCluster, of));
  return new Set([...found, ...stuck].map(namespaceKey));
}
