import type { Informer } from '../client/informer.ts';
import type { InformerSet } from '../client/informers.ts';
import { physicalClusterInformer } from '../client/physical-clusters.ts';
import { keyOf, logicalClusterOf, parseKey } from '../client/url.ts';
import { type PlacedObject, placedAs } from '../cluster/closure.ts';
import { identifyingNamespace } from '../cluster/identity.ts';
import { type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { placements, rootCluster, volumeCopies } from '../cluster/names.ts';
import { clusterPlacementPolicies, type PlacementPolicy, placementPolicies } from '../cluster/policy.ts';
import { isReflected } from '../cluster/reflected.ts';
import type { PhysicalCluster, Placement } from '../cluster/types.ts';
import { byClaim, type CopiesFound, type VolumeCopy } from '../cluster/volume-copy.ts';
import { RuledKinds, shownAs } from '../controller/ruled.ts';
import { type GroupVersionResource, groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { followFleet, type Known } from './fleet.ts';
import { Ledger } from './ledger.ts';
import { Pace } from './pace.ts';
import { type Layers, layer } from './policies.ts';
import { Rounds } from './rounds.ts';
import { isUsedByName, scopeOf } from './scope.ts';
import { Standings } from './standing.ts';
import { inTurn, isHeard, Leavers } from './turns.ts';
import { addUsage, settledUsage, type Usage, usageOf } from './usage.ts';
import { namesClusters, placesAll } from './wishes.ts';

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
  /** By Namespace: what the last decision looked for by name. Absent: not decided yet, or all of it counts. */
  mentioned: Map<string, ReadonlySet<string>>;
  /** Whose next decision need not look at all. */
  standings: Standings;
  /** Namespaces that any cluster that comes, or changes, may concern. */
  open: Set<string>;
  /** When somebody began to decide by it, in milliseconds since 1970; 0: long ago, as far as is known. */
  startedAt: number;
}

type Ruled = Pick<GroupVersionResource, 'group' | 'resource'>;

export const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const;
const byNamespace = 'scheduler/namespace';
const byWish = 'scheduler/wish';
const byReflection = 'scheduler/reflection';
const byIdentity = 'scheduler/identity';
const byLogicalCluster = 'scheduler/logical-cluster';
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
const byRuled = 'scheduler/ruled';

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
    mentioned: new Map(),
    standings: new Standings(),
    open: new Set(),
    startedAt: 0,
  };
}

export function isClaims({ kind }: PlacedKind): boolean {
  return kind === 'PersistentVolumeClaim';
}

/** Where the Namespace itself is placed, all that is in it goes along; else only what something names. */
export function objectsOf(world: World, key: string, placed: readonly Placement[]): PlacedObject[] {
  const all = (kind: PlacedKind) => world.objects.get(kind)?.byIndex(byNamespace, key) ?? [];
  const ruled = ruledIn(world, key, placed);
  if (placesAll(world.namespaces.get(key))) {
    world.mentioned.delete(key);
    return [...placedKinds.flatMap((kind) => all(kind).map((object) => placedAs(kind, object))), ...ruled];
  }
  const { cluster, name: namespace } = parseKey(key);
  const { objects, mentioned } = scopeOf(
    placedKinds,
    {
      all,
      wishing: (kind) => world.objects.get(kind)?.byIndex(byWish, key) ?? [],
      get: (kind, name) => world.objects.get(kind)?.get(keyOf(cluster, namespace, name)),
    },
    placed,
    ruled,
  );
  if (world.namespaces.get(key)) world.mentioned.set(key, mentioned);
  else world.mentioned.delete(key);
  return objects;
}

/** Those that a rule places, or has placed: who was placed by one that is gone goes on as it was. */
function ruledIn({ ruled }: World, key: string, placed: readonly Placement[]): PlacedObject[] {
  const byUid = new Map(placed.flatMap(({ spec }) => (spec?.ref.rule ? [[spec.ref.uid, spec.ref]] : [])));
  return [...ruled.all()].flatMap(({ resource, informer }) =>
    informer.byIndex(byNamespace, key).flatMap((object): PlacedObject[] => {
      const kind = ruled.kindOf(object, resource, byUid.get(object.metadata.uid ?? ''));
      return kind ? [{ kind, object: shownAs(object, kind) }] : [];
    }),
  );
}

/** What there is of a custom resource in a logical cluster, and the Placements of what may have gone unseen. */
export function ruledWithin({ ruled, placements: all }: World, of: Ruled, cluster: string): KubeObject[] {
  const objects = ruled.of(of)?.byIndex(byLogicalCluster, cluster) ?? [];
  return [...objects, ...all.byIndex(byRuled, `${cluster}/${groupResource(of)}`)];
}

/** The uids of what is placed there of which nobody knows whether it is still there. */
export function unknownIn({ ruled }: World, key: string, placed: readonly Placement[]): Set<string> {
  const { cluster } = parseKey(key);
  return new Set(
    placed.flatMap(({ spec }) => (spec?.ref.rule && !ruled.isKnown(spec.ref, cluster) ? [spec.ref.uid] : [])),
  );
}

/** Before the first decision: what is placed already, lest the first namespaces think that all is free. */
export function takeStock(world: World): void {
  const uids = new Map<string, KubeObject>();
  for (const [kind, informer] of world.objects) {
    if (kind.role !== 'workload') continue;
    for (const object of informer.values()) uids.set(object.metadata.uid ?? '', object);
  }
  for (const placement of world.placements.values()) {
    const object = ruledOf(world, placement);
    if (object) uids.set(object.metadata.uid ?? '', object);
  }
  const usage = new Map<string, Usage>();
  const settled = new Map<string, Usage>();
  const leaving = new Map<string, Map<string, number>>();
  const now = Date.now();
  for (const placement of world.placements.values()) {
    const workload = uids.get(placement.spec?.ref.uid ?? '');
    if (!workload) continue;
    const key = namespaceKey(placement);
    const { clusters = [], spread } = placement.spec ?? {};
    addTo(usage, key, usageOf(workload, placement));
    addTo(settled, key, settledUsage(workload, placement, { clusters, spread }));
    const counts = leaving.get(key) ?? new Map<string, number>();
    for (const name of inTurn(placement, (name) => isHeard(clusterNamed(world, name)), now))
      counts.set(name, (counts.get(name) ?? 0) + 1);
    leaving.set(key, counts);
  }
  for (const [key, counts] of leaving) world.leavers.set(key, counts);
  for (const [key, own] of usage) world.ledger.set(key, own);
  for (const [key, own] of settled) world.settled.set(key, own);
}

function addTo(usage: Map<string, Usage>, key: string, more: Usage): void {
  const own = usage.get(key) ?? new Map();
  addUsage(own, more);
  usage.set(key, own);
}

export function clusterNamed({ clusters }: World, name: string): PhysicalCluster | undefined {
  return clusters.get(keyOf(rootCluster, '', name));
}

function ruledOf({ ruled }: World, placement: Placement): KubeObject | undefined {
  const { ref } = placement.spec ?? {};
  if (!ref?.rule) return undefined;
  const { cluster, name: namespace } = parseKey(namespaceKey(placement));
  const object = ruled.of(ref)?.get(keyOf(cluster, namespace, ref.name));
  return object && shownAs(object, ref);
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

export function placementsIn({ placements: all }: World, key: string): Placement[] {
  return all.byIndex(byNamespace, key);
}

/** What a policy of the logical cluster may be about: all Namespaces in it; of root, in all. */
export function namespacesOf({ namespaces: all }: World, cluster: string): KubeObject[] {
  return cluster === rootCluster ? [...all.values()] : all.byIndex(byLogicalCluster, cluster);
}

/** Those that are never pushed too. */
export function* workloadsIn(world: World, key: string): Iterable<PlacedObject> {
  const { objects } = world;
  for (const [kind, informer] of objects) {
    if (kind.role !== 'workload') continue;
    for (const object of informer.byIndex(byNamespace, key)) yield placedAs(kind, object);
  }
  yield* ruledIn(world, key, placementsIn(world, key));
}

/** Its own, those of its logical cluster, and root's. */
export function policiesIn({ policies, clusterPolicies }: World, key: string): Layers {
  const { cluster } = parseKey(key);
  const logical = cluster === rootCluster ? [] : [layer(clusterPolicies.byIndex(byLogicalCluster, cluster))];
  return [
    layer(policies.byIndex(byNamespace, key)),
    ...logical,
    layer(clusterPolicies.byIndex(byLogicalCluster, rootCluster)),
  ];
}

/** Claims that are reflected into it; or all, those that its users made too. */
export function claimsIn(world: World, key: string, which: 'reflected' | 'all' = 'reflected'): KubeObject[] {
  const informer = [...world.objects].find(([kind]) => isClaims(kind))?.[1];
  return informer?.byIndex(which === 'all' ? byNamespace : byReflection, key) ?? [];
}

/** What copiers say of claims in it. */
export function copiesIn({ copies }: World, key: string): CopiesFound {
  return byClaim(copies.byIndex(byNamespace, key));
}
