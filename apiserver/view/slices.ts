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
  /** Through it its cluster's syncer writes: fenced by its lease. */
  store: Store;
  address: SliceAddress;
  slice: ClusterSlice;
  resolve(written: Placement): void;
  reject(error: unknown): void;
}

/**
 * Writes slices into Placements, those of one Placement in turn: what is on a hundred clusters is large, all of them speak at about
 * the same time, and whoever lost a race would read and write it once more. What comes through one store meanwhile is
 * written together.
 */
export class Slices {
  /** By the Placement's key, those that come after the ones being written. */
  readonly #waiting = new Map<string, Waiting[]>();

  /**
   * Makes status.clusters[cluster] of the Placement exactly `slice`, and touches nothing else. The same slice
   * again is no write. 404 when the cluster has neither a share nor a slice. A slice left over from a share that
   * is gone already goes with the word that the object is absent; otherwise the splitter drops it.
   */
  write(store: Store, address: SliceAddress, slice: ClusterSlice): Promise<Placement> {
    return new Promise((resolve, reject) => {
      const one = { store, address, slice, resolve, reject };
      const key = keyOf(addressIn(address, { ...placementsStored, name: address.name }));
      const waiting = this.#waiting.get(key);
      if (waiting) waiting.push(one);
      else void this.#drain(key, [one]);
    });
  }

  async #drain(key: string, first: Waiting[]): Promise<void> {
    this.#waiting.set(key, first);
    for (let all = first; all[0] !== undefined; all = this.#waiting.get(key) ?? []) {
      const { store } = all[0];
      // Nobody writes by another's lease.
      this.#waiting.set(
        key,
        all.filter((one) => one.store !== store),
      );
      await this.#together(all.filter((one) => one.store === store));
    }
    this.#waiting.delete(key);
  }

  /** `batch`: of one Placement, in the order in which they came. */
  async #together(batch: readonly Waiting[]): Promise<void> {
    const { address, store } = batch[0] as Waiting;
    const refused = new Set<Waiting>();
    try {
      const stored = addressIn(address, { ...placementsStored, name: address.name });
      const written = await rewriteObject<Placement>(store, stored, (before) => {
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
