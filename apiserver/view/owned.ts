import type { ObjectRef } from '../../cluster/types.ts';
import type { NamespacePlace } from './places.ts';

/** Of an object of a namespace, on these physical clusters. */
export interface Share extends NamespacePlace {
  clusters: readonly string[];
  ref: ObjectRef;
  /** Whether the object is one that leaves its pods behind, and owns nothing any more. */
  isOrphaned: boolean;
}

interface Here {
  shares: number;
  owners: Map<string, ObjectRef>;
}

/** What each physical cluster has a share of in each namespace: whose are the pods that it tells of. */
export class Owned {
  readonly #here = new Map<string, Here>();

  add({ clusters, ref, isOrphaned, ...place }: Share): void {
    for (const cluster of clusters) {
      const key = keyOf(cluster, place);
      const here = this.#here.get(key) ?? { shares: 0, owners: new Map() };
      here.shares++;
      if (!isOrphaned) here.owners.set(ref.uid, ref);
      this.#here.set(key, here);
    }
  }

  /** Takes back what `add` was told. */
  remove({ clusters, ref, ...place }: Share): void {
    for (const cluster of clusters) {
      const key = keyOf(cluster, place);
      const here = this.#here.get(key);
      if (!here) continue;
      here.shares--;
      here.owners.delete(ref.uid);
      if (here.shares === 0) this.#here.delete(key);
    }
  }

  /** By uid; undefined: the cluster has no share in this namespace. What was orphaned is not among them. */
  in(cluster: string, place: NamespacePlace): ReadonlyMap<string, ObjectRef> | undefined {
    return this.#here.get(keyOf(cluster, place))?.owners;
  }
}

/** No name has a slash. */
function keyOf(cluster: string, { logical, namespace }: NamespacePlace): string {
  return `${cluster}/${logical}/${namespace}`;
}
