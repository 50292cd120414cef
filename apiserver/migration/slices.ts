import { isClaimRef, saysBound } from '../../cluster/claims.ts';
import { newSlice, slicesStored } from '../../cluster/slices.ts';
import type { Placement } from '../../cluster/types.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';
import { collectionRange, objectKey, parseKey } from '../registry/keys.ts';
import { createOnce, pages } from './pages.ts';

const atOnce = 64;
const placements = { group: 'atoll.dev', resource: 'placements', namespaced: true };

/**
 * What clusters said in the status of a Placement becomes an object for each, and then goes from there. Whatever was killed
 * between the two is done again: what is there already is what was said.
 */
export async function moveSlicesOut(store: Store): Promise<number> {
  let moved = 0;
  for await (const entries of pages(store, collectionRange(placements, '*', ''))) {
    for (let i = 0; i < entries.length; i += atOnce) {
      const counts = await Promise.all(entries.slice(i, i + atOnce).map((entry) => moveOut(store, entry)));
      moved += counts.reduce((sum, count) => sum + count, 0);
    }
  }
  return moved;
}

async function moveOut(store: Store, entry: Entry): Promise<number> {
  const placement = decodeStored(entry) as Placement;
  if (placement.status?.clusters === undefined) return 0;
  const { clusters, ...status } = placement.status;
  const { cluster: logical, namespace } = parseKey(placements, entry.key);
  const all = Object.entries(isRecord(clusters) ? clusters : {}).filter(([, said]) => isRecord(said));
  for (const [cluster, said] of all) {
    const slice = newSlice(placement, cluster, said);
    const key = objectKey(slicesStored, logical, namespace, slice.metadata.name ?? '');
    await createOnce(store, key, slice);
  }
  const isClaim = placement.spec !== undefined && isClaimRef(placement.spec.ref);
  const bound = isClaim ? all.flatMap(([cluster, said]) => (saysBound(said) ? [cluster] : [])).sort() : [];
  const after = { ...status, ...(bound.length > 0 && { bound }) };
  await store.update(entry.key, encodeStored({ ...placement, status: after }), entry.revision);
  return all.length;
}
