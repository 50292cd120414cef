import type { ClusterSlice, Placement } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import { notFound } from '../../kube/status.ts';
import { getOwn, setOwn } from '../../kube/untyped.ts';
import type { Store } from '../../storage/store.ts';
import { keyOf, rewriteObject } from '../registry/rewrite.ts';
import { addressIn, type NamespacePlace, placementsStored } from './places.ts';

const resource = { group: 'atoll.dev', resource: 'shares' };

export interface SliceAddress extends NamespacePlace {
  cluster: string;
  name: string;
}

interface Waiting {
  address: SliceAddress;
  slice: ClusterSlice;
  resolve(written: Placement): void;
  reject(error: unknown): void;
}

/**
 * Writes slices into Placements. What comes for one while it is written is written together, next: the Placement of what is on
 * a hundred clusters is large, and all of them speak at about the same time.
 */
export class Slices {
  readonly #store: Store;
  /** By the Placement's key, those that come after the ones being written. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Makes status.clusters[cluster] of the Placement exactly `slice`, and touches nothing else. The same slice
   * again is no write. 404 when the cluster has neither a share nor a slice. A slice left over from a share that
   * is gone already goes with the word that the object is absent; otherwise the splitter drops it.
   */
  write(address: SliceAddress, slice: ClusterSlice): Promise<Placement> {
    return new Promise((resolve, reject) => {
      const one = { address, slice, resolve, reject };
      const key = keyOf(addressIn(address, { ...placementsStored, name: address.name }));
      const waiting = this.#waiting.get(key);
      if (waiting) waiting.push(one);
      else void this.#drain(key, [one]);
    });
  }

  async #drain(key: string, first: Waiting[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#waiting.get(key) ?? []) {
      this.#waiting.set(key, []);
      await this.#together(batch);
    }
    this.#waiting.delete(key);
  }

  /** `batch`: of one Placement, in the order in which they came. */
  async #together(batch: readonly Waiting[]): Promise<void> {
    const { address } = batch[0] as Waiting;
    const refused = new Set<Waiting>();
    try {
      const stored = addressIn(address, { ...placementsStored, name: address.name });
      const written = await rewriteObject<Placement>(this.#store, stored, (before) => {
        refused.clear();
        let placement = before;
        for (const one of batch) {
          const after = placement && withSlice(placement, one);
          if (after) placement = after;
          else refused.add(one);
        }
        return placement;
      });
      for (const one of batch) if (!refused.has(one)) one.resolve(written as Placement);
      for (const one of refused) one.reject(notFound(resource, one.address.name));
    } catch (error) {
      // Whoever says too much keeps nobody else from being heard.
      if (batch.length > 1) for (const one of batch) await this.#together([one]);
      else batch[0]?.reject(error);
    }
  }
}

/** The very same where it has that slice; undefined: the cluster has nothing to say of it. */
function withSlice(placement: Placement, { address: { cluster }, slice }: Waiting): Placement | undefined {
  const shared = getOwn(placement.spec?.shares ?? {}, cluster) !== undefined;
  const before = getOwn(placement.status?.clusters ?? {}, cluster);
  if (!shared && !before) return undefined;
  const wanted = shared || slice.present ? slice : undefined;
  if (deepEqual(before, wanted)) return placement;
  const clusters = { ...placement.status?.clusters };
  if (wanted) setOwn(clusters, cluster, wanted);
  else delete clusters[cluster];
  return { ...placement, status: { ...placement.status, clusters } };
}
