import type { ClusterSlice, Placement } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import { notFound } from '../../kube/status.ts';
import { getOwn, setOwn } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { rewriteObject } from '../registry/rewrite.ts';
import { type NamespacePlace, placementsStored } from './places.ts';

const resource = { group: 'atoll.dev', resource: 'shares' };

export interface SliceAddress extends NamespacePlace {
  cluster: string;
  name: string;
}

/**
 * Makes status.clusters[cluster] of the Placement exactly `slice`, and touches nothing else. The same slice
 * again is no write. 404 when the cluster has neither a share nor a slice. A slice left over from a share that
 * is gone already goes with the word that the object is absent; otherwise the splitter drops it.
 */
export async function writeSlice(
  store: Store,
  address: SliceAddress,
  slice: ClusterSlice,
): Promise<Placement> {
  const name = address.name;
  const stored = { resource: placementsStored, cluster: address.logical, namespace: address.namespace, name };
  const written = await rewriteObject<Placement>(store, stored, (placement) => {
    if (!placement) throw notFound(resource, name);
    const shared = getOwn(placement.spec?.shares ?? {}, address.cluster) !== undefined;
    const before = getOwn(placement.status?.clusters ?? {}, address.cluster);
    if (!shared && !before) throw notFound(resource, name);
    const wanted = shared || slice.present ? slice : undefined;
    return deepEqual(before, wanted) ? placement : withSlice(placement, address.cluster, wanted);
  });
  return written as Placement;
}

function withSlice(placement: Placement, cluster: string, slice: ClusterSlice | undefined): Placement {
  const clusters = { ...placement.status?.clusters };
  if (slice) setOwn(clusters, cluster, slice);
  else delete clusters[cluster];
  return { ...placement, status: { ...placement.status, clusters } };
}
