import { setImmediate } from 'node:timers/promises';
import { keyOf, logicalClusterOf, objectKey } from '../client/url.ts';
import { limitsOf } from '../cluster/capacity.ts';
import { physicalClusters } from '../cluster/names.ts';
import { clusterPlacementPolicies } from '../cluster/policy.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { Changed } from './copy.ts';
import { type Counts, objectName, type PlannedItem, planned, type Telling } from './plan-items.ts';
import { freePart } from './score.ts';
import { takeStock } from './stock.ts';
import { rebalances } from './turns.ts';
import { nothingUsed } from './usage.ts';
import { wakeConcerned } from './wake.ts';
import { namespacesOf } from './within.ts';
import { namespaceKey, type World } from './world.ts';

/** By cluster of which it is known, how many points of a hundred are free once all that is on its way has arrived: before, and after. */
export interface Room {
  before: Counts;
  after: Counts;
}

export interface PlanOptions extends Pick<Telling, 'countsOf'> {
  signal?: AbortSignal;
}

/**
 * What the scheduler would do, were `changes` made: in `world`, a copy that has them already, and that this uses up. Only
 * what these changes concern is told, workloads first. Where room is short, who comes first gets it: here by name.
 */
export async function planOf(
  world: World,
  changes: readonly Changed[],
  { countsOf, signal }: PlanOptions,
): Promise<PlannedItem[]> {
  takeStock(world);
  // Whose turn comes when, nobody asks of a plan.
  world.inTurns = false;
  const items = new Map<string, PlannedItem[]>();
  const moves = (key: string) => items.get(key)?.some(({ outcome }) => outcome === 'moves') === true;
  const isRebalanced = [...world.clusters.values()].some(rebalances);
  const rebalanced = changes.filter(isCluster).filter(({ object }) => rebalances(object as PhysicalCluster));
  const telling = { countsOf, rebalanced: rebalanced.map(({ object }) => object.metadata.name ?? '') };
  let keys = [...concernedBy(world, changes)].sort();
  do {
    for (const key of keys) {
      signal?.throwIfAborted();
      items.set(key, planned(key, world, telling));
      // Requests wait behind this.
      await setImmediate();
    }
    // What moves may leave room for others, or somewhere to go: see scheduler/rounds.ts.
    const left = keys.filter((key) => !moves(key));
    keys = isRebalanced && left.length < keys.length ? left : [];
  } while (keys.length > 0);
  const tells = isTold(changes);
  return [...items.values()]
    .flat()
    .filter(tells)
    .sort((a, b) => Number(b.workload) - Number(a.workload));
}

/** Of a copy that no plan has been made of, before; of one that has, after. */
export function roomIn(world: World): Counts {
  if (world.inTurns) takeStock(world);
  const known = [...world.clusters.values()].filter((cluster) => limitsOf(cluster).size > 0);
  return Object.fromEntries(
    known.map((cluster) => {
      const { name = '' } = cluster.metadata;
      const free = freePart(cluster, world.settled.total.get(name) ?? nothingUsed);
      return [name, Math.max(0, Math.round(free * 100))];
    }),
  );
}

function isCluster({ resource }: Changed): boolean {
  return resource.group === physicalClusters.group && resource.resource === physicalClusters.resource;
}

/** A policy of a logical cluster, which may be about any of its Namespaces, or of root: of all. */
function isWide({ resource }: Changed): boolean {
  const { group, resource: policies } = clusterPlacementPolicies;
  return resource.group === group && resource.resource === policies;
}

/** The keys of the Namespaces about which the scheduler would decide anew. */
function concernedBy(world: World, changes: readonly Changed[]): Set<string> {
  const keys = new Set<string>();
  // Which Namespaces a policy leaves open to any cluster, only a decision says.
  const isOpen = world.policies.size + world.clusterPolicies.size > 0;
  if (isOpen && changes.some(isCluster))
    for (const placement of world.placements.values()) keys.add(namespaceKey(placement));
  for (const changed of changes) {
    const { object } = changed;
    if (isCluster(changed)) wakeConcerned(world, keys, object as PhysicalCluster);
    else if (isWide(changed))
      for (const namespace of namespacesOf(world, logicalClusterOf(object))) keys.add(objectKey(namespace));
    else keys.add(object.metadata.namespace === undefined ? objectKey(object) : namespaceKey(object));
  }
  return keys;
}

/** What moves; what cannot leave a changed cluster, or is in a changed Namespace; what was named; and what keeps something from a rebalance. */
function isTold(changes: readonly Changed[]): (item: PlannedItem) => boolean {
  const clusters = new Set(changes.filter(isCluster).map(({ object }) => object.metadata.name));
  const named = new Set<string>();
  const within = new Set<string>();
  for (const { resource, object } of changes.filter((changed) => !isCluster(changed))) {
    const { namespace, name = '' } = object.metadata;
    const at = keyOf(logicalClusterOf(object), namespace ?? name, '');
    within.add(at);
    named.add(at + objectName({ ...resource, name }));
  }
  return (item) => {
    const at = keyOf(item.logicalCluster, item.namespace, '');
    if (item.outcome === 'stays') return item.kept !== undefined || named.has(at + item.object);
    if (item.outcome !== 'blocked' || changes.some(isWide)) return true;
    return within.has(at) || [...item.from, ...Object.keys(item.reasons)].some((name) => clusters.has(name));
  };
}
