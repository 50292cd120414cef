import { newSlice, slicesStored } from '../../cluster/slices.ts';
import type { Placement } from '../../cluster/types.ts';
import type { Store } from '../../storage/store.ts';
import { decodeStored, encodeStored } from '../registry/codec.ts';
import { collectionRange, objectKey, parseKey } from '../registry/keys.ts';
import { createOnce, pages } from './pages.ts';

const placements = { group: 'atoll.dev', resource: 'placements', namespaced: true };

/**
 * What clusters said in the status of a Placement becomes an object for each, and then goes from there. Whatever was killed
 * between the two is done again: what is there already is what was said.
 */
export async function moveSlicesOut(store: Store): Promise<number> {
  let moved = 0;
  for await (const entries of pages(store, collectionRange(placements, '*', ''))) {
    for (const entry of entries) {
      const placement = decodeStored(entry) as Placement;
      if (placement.status?.clusters === undefined) continue;
      const { clusters, ...status } = placement.status;
      const { cluster: logical, namespace } = parseKey(placements, entry.key);
      for (const [cluster, said] of Object.entries(clusters)) {
        const slice = newSlice(placement, cluster, said);
        const key = objectKey(slicesStored, logical, namespace, slice.metadata.name ?? '');
        await createOnce(store, key, slice);
        moved++;
      }
      await store.update(entry.key, encodeStored({ ...placement, status }), entry.revision);
    }
  }
  return moved;
}
