import { keyOf, parseKey } from '../client/url.ts';
import { type PlacedObject, placedAs } from '../cluster/closure.ts';
import { type PlacedKind, placedKinds } from '../cluster/kinds.ts';
import { rootCluster } from '../cluster/names.ts';
import type { Placement } from '../cluster/types.ts';
import { byClaim, type CopiesFound } from '../cluster/volume-copy.ts';
import { shownAs } from '../controller/ruled.ts';
import { type GroupVersionResource, groupResource } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Layers, layer } from './policies.ts';
import { scopeOf } from './scope.ts';
import { placesAll } from './wishes.ts';
import {
  byLogicalCluster,
  byNamespace,
  byReflection,
  byRuled,
  byWish,
  isClaims,
  type World,
} from './world.ts';

type Ruled = Pick<GroupVersionResource, 'group' | 'resource'>;

/** Where the Namespace itself is placed, all that is in it goes along; else only what something names. */
export function objectsOf(world: World, key: string, placed: readonly Placement[]): PlacedObject[] {
  const all = (kind: PlacedKind) => world.objects.get(kind)?.byIndex(byNamespace, key) ?? [];
  const ruled = ruledIn(world, key, placed);
  if (placesAll(world.namespaces.get(key))) {
    world.mentioned.set(key, undefined);
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
  world.mentioned.set(key, world.namespaces.get(key) && mentioned);
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
