import type { ClusterSlice, Placement } from '../../cluster/types.ts';
import { deepEqual, getOwn, setOwn } from '../../kube/deep.ts';
import { notFound } from '../../kube/status.ts';
import { type Entry, type Store, StoreError } from '../../storage/store.ts';
import { decode, encode, keys } from './codec.ts';

const resource = { group: 'atoll.dev', resource: 'shares' };

export interface SliceAddress {
  cluster: string;
  logical: string;
  namespace: string;
  name: string;
}

/**
 * Makes status.clusters[cluster] of the Placement exactly `slice`, and touches nothing else. The same slice
 * again is no write. 404 when the cluster has neither a share nor a slice. A slice left over from a share that
 * is gone already goes with the word that the object is absent; otherwise the splitter drops it.
 */
export async function writeSlice(store: Store, at: SliceAddress, slice: ClusterSlice): Promise<Placement> {
  const key = keys.placement(at.logical, at.namespace, at.name);
  for (;;) {
    const entry = await store.get(key);
    if (!entry) throw notFound(resource, at.name);
    const placement = decode<Placement>(entry);
    const shared = getOwn(placement.spec?.shares ?? {}, at.cluster) !== undefined;
    const before = getOwn(placement.status?.clusters ?? {}, at.cluster);
    if (!shared && !before) throw notFound(resource, at.name);
    const wanted = shared || slice.present ? slice : undefined;
    if (deepEqual(before, wanted)) return placement;
    const written = await attempt(store, withSlice(placement, at.cluster, wanted), entry);
    if (written) return decode<Placement>(written);
  }
}

function withSlice(placement: Placement, cluster: string, slice: ClusterSlice | undefined): Placement {
  const clusters = { ...placement.status?.clusters };
  if (slice) setOwn(clusters, cluster, slice);
  else delete clusters[cluster];
  return { ...placement, status: { ...placement.status, clusters } };
}

/** Undefined when somebody else wrote in between. */
export async function attempt(store: Store, object: Placement, expected: Entry): Promise<Entry | undefined> {
  try {
    return await store.update(expected.key, encode(object), expected.revision);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'conflict') return undefined;
    if (error instanceof StoreError && error.code === 'missing') return undefined;
    throw error;
  }
}
