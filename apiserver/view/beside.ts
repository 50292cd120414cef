import { type Peer, peerOf } from '../../cluster/peers.ts';
import type { PhysicalCluster } from '../../cluster/types.ts';
import { deepEqual } from '../../kube/deep.ts';
import type { StoreEvent } from '../../storage/store.ts';
import { shownStored } from '../registry/codec.ts';
import { collectionRange, parseKey } from '../registry/keys.ts';
import type { Owned } from './owned.ts';
import { clustersStored, type NamespacePlace, slicesStored } from './places.ts';

const allSlices = collectionRange(slicesStored, '*', '').start;
const allClusters = collectionRange(clustersStored, '*', '').start;

/** What is no Placement, and concerns clusters that have no share of it: see Peers. */
export function besideOf(key: string): 'slice' | 'cluster' | undefined {
  if (key.startsWith(allSlices)) return 'slice';
  return key.startsWith(allClusters) ? 'cluster' : undefined;
}

export function placeOfSlice(key: string): NamespacePlace {
  const { cluster: logical, namespace } = parseKey(slicesStored, key);
  return { logical, namespace };
}

/** Finds which clusters an event may concern: of a slice those that have something in its namespace. */
export class Beside {
  /** By PhysicalCluster's key, as it was last told: beats change nothing of it. */
  readonly #told = new Map<string, Peer | undefined>();

  concerned({ type, entry }: StoreEvent, clusters: Iterable<string>, owned: Owned): Iterable<string> {
    const { key } = entry;
    const what = besideOf(key);
    if (what === undefined) return [];
    if (what === 'slice') {
      const place = placeOfSlice(key);
      return [...clusters].filter((cluster) => owned.in(cluster, place) !== undefined);
    }
    const peer = type === 'delete' ? undefined : peerOf(shownStored(entry) as PhysicalCluster);
    if (this.#told.has(key) && deepEqual(this.#told.get(key), peer)) return [];
    if (type === 'delete') this.#told.delete(key);
    else this.#told.set(key, peer);
    return clusters;
  }
}
