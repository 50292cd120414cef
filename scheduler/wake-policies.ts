import type { Informer } from '../client/informer.ts';
import { keyOf, logicalClusterOf } from '../client/url.ts';
import { isPlaceable } from '../cluster/placeable.ts';
import type { PlacementPolicy } from '../cluster/policy.ts';
import { deepEqual } from '../kube/deep.ts';
import { type Policy, policyOf } from './policies.ts';
import { namespacesOf, workloadsIn } from './within.ts';
import { namespaceKey, type World } from './world.ts';

/** A policy that comes, changes or goes concerns the Namespaces of the workloads that it selects, or did, and no others. */
export function wakeForPolicies(world: World, soon: (key: string) => void): void {
  const concerned = (...policies: PlacementPolicy[]) => {
    for (const key of concernedBy(world, policies)) soon(key);
  };
  const follow = (policies: Informer<PlacementPolicy>) =>
    policies.on({
      // Nothing is decided before the first list is there, and then everything.
      add: (policy) => policies.hasSynced && concerned(policy),
      update: (now, old) => matters(now, old) && concerned(now, old),
      delete: (policy) => concerned(policy),
    });
  follow(world.policies);
  follow(world.clusterPolicies);
}

function matters(now: PlacementPolicy, old: PlacementPolicy): boolean {
  const { metadata: is } = now;
  return !deepEqual(now.spec, old.spec) || is.deletionTimestamp !== old.metadata.deletionTimestamp;
}

/** All of `policies` are states of one. */
function concernedBy(world: World, policies: readonly PlacementPolicy[]): string[] {
  const [first] = policies;
  if (!first) return [];
  const { namespace } = first.metadata;
  const cluster = logicalClusterOf(first);
  const keys =
    namespace === undefined
      ? namespacesOf(world, cluster).map((it) => keyOf(logicalClusterOf(it), '', it.metadata.name ?? ''))
      : [namespaceKey(first)];
  const read = policies.filter(({ spec }) => spec !== undefined).map(policyOf);
  return keys.filter((key) => selectsWithin(world, key, read));
}

function selectsWithin(world: World, key: string, policies: readonly Policy[]): boolean {
  const namespace = world.namespaces.get(key);
  for (const placed of workloadsIn(world, key)) {
    if (!isPlaceable(placed.kind, placed.object)) continue;
    if (policies.some(({ selects }) => selects(placed, namespace))) return true;
  }
  return false;
}
