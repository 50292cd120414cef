import type { ObjectRef, Placement } from '../../cluster/types.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import { parseKey } from '../registry/keys.ts';
import { keyOf as keyOfObject } from '../registry/rewrite.ts';
import { addressIn, type NamespacePlace, placementsStored } from './places.ts';

/** Of an object of a namespace, on these physical clusters. */
export interface Share extends NamespacePlace {
  clusters: readonly string[];
  ref: ObjectRef;
  /** Whether the object is one that leaves its pods behind, and owns nothing any more. */
  isOrphaned: boolean;
}

/** Which state of its spec a Placement has. */
export interface Spoken {
  metadata: Pick<ObjectMeta, 'uid' | 'generation'>;
}

/** What the index keeps of a Placement. */
export interface Place extends Share, Spoken {
  /** Of the object that it names. */
  rootKey: string;
}

/** The registry counts what is said of a spec; what it has not counted may be anything. */
export function saysTheSame({ metadata: a }: Spoken, { metadata: b }: Spoken): boolean {
  return a.generation !== undefined && a.generation === b.generation && a.uid === b.uid;
}

/** Undefined: no cluster has a share of it. */
export function placeOf(key: string, { spec, metadata }: Placement): Place | undefined {
  const { shares, ref, orphaned } = spec ?? {};
  if (!isRecord(shares) || !ref) return undefined;
  const clusters = Object.keys(shares);
  if (clusters.length === 0) return undefined;
  const { cluster: logical, namespace } = parseKey(placementsStored, key);
  const rootKey = keyOfObject(addressIn({ logical, namespace }, ref));
  const spoken = { metadata: { uid: metadata.uid, generation: metadata.generation } } as Spoken;
  return { ...spoken, logical, namespace, clusters, rootKey, ref, isOrphaned: orphaned === ref.uid };
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
